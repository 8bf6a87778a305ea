"""Bergson: subsets.json, a list for each model of the items that it was trained *without*, and validation.csv.

`validate` writes in the column `diff` of validation.csv (of shards: validation_0_50.csv, …) how much lower a query's
loss is than that of the model trained on all items. By default the lists are a partition: each item is left out exactly
once. Two images are then told apart by two models only, and no test is possible.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.sources.imports.base import Converted, Importer, as_lists
from pipeline.text.json_file import read_json

OUTCOME = "loss reduction"
LOSSES = "validation*.csv"


def _file(path: Path) -> Path:
    return path / "subsets.json" if path.is_dir() else path


def _found(path: Path) -> bool:
    file = _file(path)
    if file.suffix != ".json" or not file.is_file():
        return False
    with file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(64).lstrip().startswith("[")


def _read(path: Path) -> Converted:
    file = _file(path)
    lists = as_lists(file, read_json(file))
    images = np.concatenate(lists)
    if len(np.unique(images)) == len(images):
        raise BadInputError(
            f"{file} leaves out no item twice, as Bergson's default partition does: any two items are told apart by "
            "two models only, so no test is possible; draw overlapping subsets (method.fraction > 0) and train again."
        )
    outcomes = _losses(file.parent, len(lists))
    if outcomes is None:
        return Converted(lists, excluded=True)
    return Converted(lists, True, outcomes, outcome=OUTCOME, higher_is_better=True)


def _losses(folder: Path, n_models: int) -> NDArray[Any] | None:
    """(models, queries): the column diff, NaN for models that no file has; None where there is no file."""
    files = sorted(folder.glob(LOSSES))
    rows = [(file, row) for file in files for row in _rows(file)]
    if not rows:
        return None
    outcomes = np.full((n_models, _n_queries(folder, {int(row["query"]) for _, row in rows})), np.nan)
    for file, row in rows:
        model, query, value = int(row["subset"]), int(row["query"]), float(row["diff"])
        if not 0 <= model < n_models:
            raise BadInputError(f"{file} has an outcome of subset {model}, but subsets.json lists {n_models:,}.")
        known = outcomes[model, query]
        if not np.isnan(known) and known != value:
            raise BadInputError(
                f"{file} says {value:g} of subset {model} and query {query}, but {known:g} was said of it before; keep "
                "the files of one validation."
            )
        outcomes[model, query] = value
    return outcomes


def _n_queries(folder: Path, queries: set[int]) -> int:
    """How many there are, numbered from 0 without a gap: so many columns are made."""
    if min(queries) != 0 or max(queries) != len(queries) - 1:
        raise BadInputError(
            f"the files validation*.csv of {folder} must number queries from 0 without a gap, but they have "
            f"{len(queries):,} from {min(queries)} to {max(queries)}."
        )
    return len(queries)


def _rows(file: Path) -> list[dict[str, str]]:
    """The lines of subset, query and diff; other files of that name have none."""
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            found = csv.DictReader(opened)
            if not {"subset", "diff"} <= set(found.fieldnames or ()):
                return []
            rows = [{"query": "0", **row} for row in found]
        for row in rows:
            int(row["subset"]), int(row["query"]), float(row["diff"])
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise BadInputError(f"{file} is not a file of subsets and losses of Bergson's ({str(error)[:120]}).") from error
    return rows


IMPORTER = Importer(
    "bergson", "a folder of Bergson's", _found, _read, lambda path: any(_file(path).parent.glob(LOSSES))
)
