"""The design "list": a CSV file with the columns i, j and target. Other columns are not read.

A cell of i or j may hold a group, separated by spaces ("12 17 dog:3"); then the other one must hold as many. Rows are
read into arrays, each different cell once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.designs.pairs import Pairs, take_runs
from datamodels_inf.internal.checks import Ints
from pipeline.errors import BadInputError
from pipeline.stages.test.image_references import ImageFinder
from pipeline.text.csv_text import text_of

COLUMNS = ("i", "j", "target")


def read_pairs(path: Path, train: ImageFinder, targets: ImageFinder) -> Pairs:
    """All rows of the file, in its order."""
    table = _read(path, COLUMNS)
    left, bounds = _runs(path, "i", table["i"], train)
    right, bounds_j = _runs(path, "j", table["j"], train)
    target, bounds_t = _runs(path, "target", table["target"], targets)
    sizes = np.diff(bounds)
    _refuse(path, np.diff(bounds_t) != 1, "target must be one image")
    _refuse(path, sizes != np.diff(bounds_j), "i and j must be groups of equal size")
    pairs = Pairs(left, right, bounds, target, np.zeros(len(target), np.int8), ("list",))
    twice = np.zeros(len(pairs), np.bool_)
    for size in np.unique(sizes).tolist():
        tests = np.flatnonzero(sizes == size)
        members = np.sort(pairs.members(tests).reshape(len(tests), -1), axis=1)
        twice[tests] = (members[:, 1:] == members[:, :-1]).any(axis=1)
    _refuse(path, twice, "an image stands twice in i and j")
    return pairs


def target_texts(path: Path) -> list[str]:
    """The different cells of the column target, sorted: which datamodels the file needs, before classes are known."""
    cells = _read(path, ("target",))["target"].unique()
    return sorted(cells.to_pylist())


def find_targets(path: Path, targets: ImageFinder) -> Ints:
    """The targets of the file, each once, sorted."""
    found, _ = _runs(path, "target", _read(path, ("target",))["target"], targets)
    return np.unique(found)


def _read(path: Path, columns: tuple[str, ...]) -> Any:
    """The columns as text."""
    import pyarrow as pa
    from pyarrow import csv

    if not path.is_file():
        raise BadInputError(f"test.file {path} does not exist; name a CSV file with the columns i, j and target.")
    options = csv.ConvertOptions(
        include_columns=list(columns), column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
    )
    try:
        with csv.open_csv(path) as opened:  # `read_csv` would take one of two columns of the same name.
            names = [name for name in opened.schema.names if name in COLUMNS]
        if sorted(names) != list(COLUMNS):
            raise ValueError(f"of these it names {', '.join(names) or 'none'}")
        table = csv.read_csv(path, convert_options=options)
    except (ValueError, pa.ArrowKeyError, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInputError(
            f"test.file {path} is not a CSV file with a first line that names i, j and target, each once ({reason})."
        ) from error
    if table.num_rows == 0:
        raise BadInputError(f"test.file {path} lists no pair.")
    return table


def _runs(path: Path, name: str, column: Any, finder: ImageFinder) -> tuple[Ints, Ints]:
    """(the images of all cells, one after the other; the bounds of each cell's)."""
    coded = column.combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int64)
    found: list[list[int]] = []
    for code, text in enumerate(coded.dictionary.to_pylist()):
        try:
            found.append(finder.find(text_of(text)))
        except ValueError as error:
            row = int(np.flatnonzero(codes == code)[0]) + 1
            raise BadInputError(f"test.file {path}, row {row}, column {name}: {error}.") from error
    values = np.array([number for numbers in found for number in numbers], np.int64)
    bounds = np.concatenate([[0], np.cumsum([len(numbers) for numbers in found])]).astype(np.int64)
    return take_runs(values, bounds, codes)


def _refuse(path: Path, wrong: NDArray[np.bool_], sentence: str) -> None:
    if wrong.any():
        raise BadInputError(f"test.file {path}, row {int(np.flatnonzero(wrong)[0]) + 1}: {sentence}.")
