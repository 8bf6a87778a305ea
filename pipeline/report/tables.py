"""The two CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pipeline.report.content import COLUMNS, Row


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """`rows` as CSV, one line each, in the given order: UTF-8, 10 significant digits, true/false."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_text(getattr(row, column)) for column in COLUMNS] for row in rows)


def _text(value: str | int | float | bool) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return format(value, ".10g") if isinstance(value, (float, np.floating)) else str(value)
