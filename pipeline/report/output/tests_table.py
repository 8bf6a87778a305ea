"""findings.csv and tests.csv: the tests, one line each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline.report.rows import COLUMNS, Row
from pipeline.text.csv_text import write_csv


def write_tests(path: Path, rows: Iterable[Row]) -> None:
    """`rows` as CSV, one line each, in the given order."""
    write_csv(path, COLUMNS, (values_of(row).values() for row in rows))


def values_of(row: Row) -> dict[str, Any]:
    """Column → value; a pair is two groups of one image each."""
    values = {column: getattr(row, column) for column in COLUMNS}
    return {**values, "members_i": row.left, "members_j": row.right}
