"""A file of weights or scores, held against the data that it should be about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.score_files.formats import UNNAMED, Arrays, Content, read_content, records_beside
from pipeline.store.identity import identity

KINDS = ".npy, .npz, .pt or .safetensors"


@dataclass(frozen=True, eq=False)
class Scores:
    """weight: (n_train, n_targets), column t belongs to target t. bias, lam: (n_targets,), None if the file has none.

    notes: what was done or assumed that the user should know, in lines.
    """

    weight: NDArray[Any]
    bias: NDArray[np.float64] | None = None
    lam: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()


def read_scores(path: Path, n_train: int, n_targets: int, key: str = "fit.file") -> Scores:
    """The scores of `path`, turned if they fit only the other way round; `key` is the setting that names the file.

    bool, whole and floating numbers of any length are read; weight may be a memory map.
    """
    content = read_arrays(path, key)
    arrays = content.arrays
    weight, turned = _turned(arrays["weight"], n_train, n_targets, path, content.by_target)
    vectors = {name: arrays[name].astype(np.float64) for name in ("bias", "lam") if name in arrays}
    wanted = n_train, n_targets
    if weight.shape != wanted or any(vector.shape != wanted[1:] for vector in vectors.values()):
        raise BadInputError(f"{key} {path} {_misfit(arrays, wanted)}.")
    return Scores(weight, vectors.get("bias"), vectors.get("lam"), (*content.notes, *turned))


def read_arrays(path: Path, key: str) -> Content:
    """weight and what belongs to it, whatever data they are about."""
    try:
        content = read_content(path)
        return replace(content, arrays=_named(content.arrays))
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInputError(
            f"{key} {path} is not a file of weights or scores ({type(error).__name__}: {reason})."
        ) from error


def score_content(path: Path, key: str) -> Any:
    """What tells the content of this file from another's, for a key; where a description stands beside it, of both."""
    if not path.is_file():
        raise BadInputError(f"{key} {path} does not exist; name a {KINDS} file of weights or scores.")
    info = records_beside(path)
    return identity(path) if info is None else [identity(path), identity(info)]


def _named(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """`weight` and what belongs to it; one array alone is the weight."""
    found = dict(arrays)
    if "weight" not in found:
        if len(found) != 1:
            raise ValueError(UNNAMED)
        found = {"weight": next(iter(found.values()))}
    for name, array in found.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} holds {array.dtype}, not numbers")
    return found


def _misfit(arrays: Arrays, wanted: tuple[int, int]) -> str:
    """What shapes there should be, and are; of an array alone in words that do not speak of others."""
    shape = f"shape {wanted}, training images × targets, or its transpose"
    if len(arrays) == 1:
        return f"must have {shape}, but it has {arrays['weight'].shape}"
    found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    return f"must hold weight of {shape}, and bias and lam, if it has any, of shape {wanted[1:]}, but it has {found}"


def _turned(
    weight: NDArray[Any], n_train: int, n_targets: int, path: Path, by_target: bool | None
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """(weight as training images × targets if it can be that, what to say of it)."""
    if weight.shape == (n_train,) and n_targets == 1:
        return weight[:, None], ()
    if n_train == n_targets and weight.shape == (n_train, n_train) and by_target is None:
        return weight, (
            f"{path.name} is square: its rows are taken as training images and its columns as targets; if they are the "
            "other way round, save its transpose",
        )
    if weight.shape == (n_targets, n_train) and (by_target or n_train != n_targets):
        return weight.T, (f"{path.name} has a row for each target: it was turned to training images × targets",)
    return weight, ()
