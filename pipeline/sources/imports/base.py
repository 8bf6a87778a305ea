"""What a format is that needs more than reading, and the folder that it becomes."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import open_array
from pipeline.errors import BadInputError
from pipeline.sources.layouts.dattri import read_tensor
from pipeline.sources.layouts.own_folder import OwnFolder
from pipeline.sources.mask_rows import CHUNK_ROWS
from pipeline.sources.opened import Opened
from pipeline.sources.subsets_file import SUBSETS_FILE
from pipeline.store.files import check_place, make_folder, save_array


@dataclass(frozen=True)
class Given:
    """What the user says beside the files: outcomes, whose sign is turned if `flip`, and what no file tells."""

    outcomes: Path | None = None
    flip: bool = False
    n_train: int | None = None
    outcome: str | None = None
    higher_is_better: bool | None = None


@dataclass(frozen=True, eq=False)
class Converted:
    """The lists of all models, of images included in masks or excluded from them, and what is known of outcomes."""

    lists: Sequence[NDArray[np.int64]]
    excluded: bool = False
    outcomes: NDArray[Any] | None = None
    n_train: int | None = None
    outcome: str | None = None
    higher_is_better: bool | None = None


@dataclass(frozen=True)
class Importer:
    """One format. found: whether a file or folder looks like it. read: its lists, and outcomes where it has them.

    with_outcomes: whether these are in the files that it looks like.
    """

    name: str
    title: str
    found: Callable[[Path], bool]
    read: Callable[[Path], Converted]
    with_outcomes: Callable[[Path], bool] = lambda path: False

    def command(self, path: Path) -> str:
        """What converts it, but for the names that only the user knows."""
        outcomes = "" if self.with_outcomes(path) else " --outcomes FILE.npy"
        return f"datamodels-inf import --from {self.name} {shlex.quote(str(path))} OUT{outcomes}"


def with_given(converted: Converted, given: Given, source: Path) -> Converted:
    """What the user says goes before what the files say; outcomes there must be."""
    if given.outcomes is not None:  # Of these, the files say nothing.
        found = read_outcomes(given.outcomes)
        converted = replace(converted, outcomes=found, outcome=None, higher_is_better=None)
    outcomes = converted.outcomes
    if outcomes is None:
        raise BadInputError(
            f"{source} holds no outcomes; give them, one row a model and one column a target: --outcomes FILE.npy."
        )
    if len(outcomes) != len(converted.lists):
        raise BadInputError(
            f"{given.outcomes or source} has outcomes of {len(outcomes):,} models, but {source} lists the images of "
            f"{len(converted.lists):,}."
        )
    higher = converted.higher_is_better if given.higher_is_better is None else given.higher_is_better
    renamed = given.outcome not in (None, converted.outcome)
    return replace(
        converted,
        outcomes=-outcomes if given.flip else outcomes,
        n_train=given.n_train or converted.n_train,
        outcome=given.outcome or converted.outcome,
        higher_is_better=given.higher_is_better if renamed else higher,
    )


def read_outcomes(path: Path) -> NDArray[Any]:
    """A .npy array, or a .pt file of one tensor."""
    if not path.is_file():
        raise BadInputError(f"--outcomes {path} does not exist.")
    values = read_tensor(path) if path.suffix == ".pt" else open_array(path)
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf" or 0 in values.shape:
        raise BadInputError(
            f"--outcomes {path} must hold real numbers, one row a model and one column a target, but it holds "
            f"{values.dtype} of shape {values.shape}."
        )
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def write_folder(out: Path, converted: Converted) -> Opened:
    """The layout of docs/own-data.md in `out`, which appears whole or not at all and is never written over."""
    check_place(out, "OUT")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInputError(f"{out} is there already; name a folder that is not, or an empty one.")
    place = out.resolve()  # Where a link leads to.
    making = Path(mkdtemp(prefix=".import-", dir=make_folder(place.parent, "the folder of OUT")))
    try:
        _write(making, converted)
        _refuse_bad_rows(making, out)
        making.chmod(0o755)
        making.replace(place)  # Over an empty folder, too.
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return OwnFolder(out).open()


def _write(folder: Path, converted: Converted) -> None:
    flat = np.concatenate([np.zeros(0, np.int64), *converted.lists])
    sizes = {len(images) for images in converted.lists}
    if len(sizes) == 1:
        save_array(folder / "indices.npy", flat.reshape(len(converted.lists), -1))
    else:
        save_array(folder / "indices.npy", flat)
        save_array(folder / "indptr.npy", np.cumsum([0, *map(len, converted.lists)]))
    save_array(folder / "outcomes.npy", np.asarray(converted.outcomes))
    said = {
        "n_train": converted.n_train,
        "lists": "excluded" if converted.excluded else "included",
        "outcome": converted.outcome,
        "higher_is_better": converted.higher_is_better,
    }
    known = {key: value for key, value in said.items() if value is not None}
    (folder / SUBSETS_FILE).write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _refuse_bad_rows(making: Path, out: Path) -> None:
    """All lists are looked at before the folder appears, as a run would; sentences do not name a folder that goes."""
    try:
        opened = OwnFolder(making).open()
        for start in range(0, opened.masks.n_models, CHUNK_ROWS):
            opened.masks.bits(np.arange(start, min(start + CHUNK_ROWS, opened.masks.n_models)))
    except BadInputError as error:
        raise BadInputError(str(error).replace(str(making), str(out))) from error


def as_lists(path: Path, found: Any) -> list[NDArray[np.int64]]:
    """A list of lists of whole numbers, as JSON and YAML give it."""
    whole = isinstance(found, list) and found and all(isinstance(images, list) for images in found)
    if not whole or not all(type(image) is int for images in found for image in images):
        raise BadInputError(f"{path} must hold a list of lists of whole numbers, one list a model.")
    try:
        return [np.array(images, np.int64) for images in found]
    except OverflowError as error:
        raise BadInputError(f"{path} lists an image by a number that is too large for any set.") from error
