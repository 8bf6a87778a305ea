"""dattri: a folder that `retrain_lds` left, N/indices.txt; or its benchmarks' indices_lds.pt with target values.

`retrain_lds(train_func, dataloader, path)` writes for model N the images that it was trained on, one a line, beside its
checkpoints, and at the end metadata.yml with data_length; in shards it leaves that out. Outcomes there are none: what
`calculate_lds_ground_truth` returns has its sign turned.
"""

from __future__ import annotations

from itertools import count, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.sources.imports.base import Converted, Importer
from pipeline.sources.imports.yaml_file import read_yaml
from pipeline.sources.layouts.dattri import INDICES, OUTCOME, VALUES, read_tensor, turned_back


def _subset_folders(path: Path) -> list[Path]:
    """0, 1, 2, … in the order of their numbers."""
    if not path.is_dir():
        return []
    numbered = (folder for folder in path.iterdir() if folder.name.isdecimal() and (folder / "indices.txt").is_file())
    return sorted(numbered, key=lambda folder: (int(folder.name), folder.name))


def _refuse_gaps(path: Path, folders: list[Path]) -> None:
    """A row of outcomes belongs to each number from 0: with one missing, or twice there, no row is surely its own."""
    names = [folder.name for folder in folders]
    if names == [str(k) for k in range(len(names))]:
        return
    odd = [name for name in names if name != str(int(name))]
    if odd:
        raise BadInputError(f"{path} has a folder {odd[0]}, but retrain_lds numbers its folders 0, 1, 2, …; remove it.")
    missing = list(islice((str(k) for k in count() if str(k) not in names), min(6, int(names[-1]) + 1 - len(names))))
    listed = ", ".join([*missing[:5], *(["…"] if len(missing) > 5 else [])])
    raise BadInputError(
        f"{path} has {len(names):,} folders up to {names[-1]}, but {listed} {'is' if len(missing) == 1 else 'are'} "
        "missing or without indices.txt; train these too, or number the others from 0 without a gap, as the rows of "
        "the outcomes."
    )


def _found(path: Path) -> bool:
    return bool(_subset_folders(path)) or all((path / name).is_file() for name in (INDICES, VALUES))


def _read(path: Path) -> Converted:
    folders = _subset_folders(path)
    if folders:
        _refuse_gaps(path, folders)
        return Converted([_indices(folder / "indices.txt") for folder in folders], n_train=_data_length(path))
    if not _found(path):
        raise BadInputError(
            f"{path} holds neither folders 0, 1, … with indices.txt, as dattri's retrain_lds leaves them, nor "
            f"{INDICES} with {VALUES}."
        )
    indices = read_tensor(path / INDICES)
    if indices.ndim != 2 or indices.dtype.kind not in "iu":
        raise BadInputError(
            f"{path / INDICES} must hold whole numbers, one row a model, but it holds {indices.dtype} of shape "
            f"{indices.shape}."
        )
    values = turned_back(path / VALUES)
    target_function = values.array * values.dtype.type(values.factor)
    return Converted(list(indices.astype(np.int64)), False, target_function, None, OUTCOME, False)


def _indices(path: Path) -> NDArray[np.int64]:
    try:
        return np.array([int(line) for line in path.read_text(encoding="utf-8").split()], np.int64)
    except (OSError, ValueError, OverflowError) as error:
        raise BadInputError(f"{path} must hold one whole number a line ({str(error)[:120]}).") from error


def _data_length(path: Path) -> int | None:
    """How many training images there were, if retrain_lds came to its end."""
    file = path / "metadata.yml"
    found = read_yaml(file) if file.is_file() else {}
    length = found.get("data_length") if isinstance(found, dict) else None
    return length if type(length) is int else None


IMPORTER = Importer("dattri", "a folder of dattri's", _found, _read, lambda path: not _subset_folders(path))
