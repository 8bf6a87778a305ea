"""The CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.report.content import DatamodelQuality
from pipeline.report.rows import COLUMNS, Row
from pipeline.report.sections.reruns import Rerun, Robustness

DATAMODEL_COLUMNS = ("target", "class", "r2", "spearman", "mse", "n_nonzero", "lambda", "gap")


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """`rows` as CSV, one line each, in the given order."""
    _write(path, COLUMNS, (values_of(row).values() for row in rows))


def values_of(row: Row) -> dict[str, Any]:
    """Column → value; a pair is two groups of one image each."""
    values = {column: getattr(row, column) for column in COLUMNS}
    return {**values, "members_i": row.left, "members_j": row.right}


def write_datamodels(path: Path, quality: DatamodelQuality) -> None:
    """The quality of the datamodels as CSV, one line a target."""
    arrays = (quality.r2, quality.spearman, quality.mse, quality.n_nonzero, quality.lam, quality.gap)
    columns = (quality.targets.tolist(), quality.classes, *(array.tolist() for array in arrays))
    _write(path, DATAMODEL_COLUMNS, zip(*columns, strict=True))


def write_reruns(path: Path, robustness: Robustness) -> None:
    """The re-runs as CSV, one line each; `pair` counts the cases from 1."""
    names = [field.name for field in fields(Rerun)]
    lines = (
        (k, case.number or None, *(getattr(rerun, name) for name in names))
        for k, case in enumerate(robustness.cases, start=1)
        for rerun in case.reruns
    )
    _write(path, ("pair", "finding", *names), lines)


def _write(path: Path, header: Sequence[str], lines: Iterable[Iterable[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([plain(value) for value in line] for line in lines)


def plain(value: str | int | float | bool | tuple[int, ...] | None) -> str:
    """A value for a program to read: 10 significant digits, true/false, numbers of images with blanks between."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return format(value, ".10g") if isinstance(value, (float, np.floating)) else str(value)
