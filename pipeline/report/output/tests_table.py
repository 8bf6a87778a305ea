"""findings.csv and tests.csv: the tests, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.images.item_names import ItemNames
from pipeline.report.rows import COLUMNS, Numbered, Row
from pipeline.text.csv_text import write_csv


def write_tests(path: Path, rows: Iterable[Row], names: ItemNames) -> None:
    """`rows` as CSV, one line each, in the given order."""
    write_csv(path, _header(names), (values_of(row, names).values() for row in rows))


def write_findings(path: Path, findings: Iterable[Numbered], names: ItemNames) -> None:
    """The same of findings, each with its number on the page."""
    lines = ((item.number, *values_of(item.row, names).values()) for item in findings)
    write_csv(path, ("number", *_header(names)), lines)


def _header(names: ItemNames) -> tuple[str, ...]:
    return (*COLUMNS, *name_columns(names, train=("name_i", "name_j"), targets=("name_target",)))


def values_of(row: Row, names: ItemNames) -> dict[str, Any]:
    """Column → value; a pair is two groups of one image each. Names of images come last, where they have any."""
    values = {column: getattr(row, column) for column in COLUMNS}
    sides = {"members_i": row.left, "members_j": row.right}
    own = {"name_i": ("train", row.left), "name_j": ("train", row.right), "name_target": ("target", (row.target,))}
    there = name_columns(names, train=("name_i", "name_j"), targets=("name_target",))
    return {**values, **sides, **{column: names_of(names, *own[column]) for column in there}}


def name_columns(names: ItemNames, *, train: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
    """Of columns for names, those that have any: no column where nothing has a name.

    >>> name_columns(ItemNames(train=("age", "bmi")), train=("name_i", "name_j"), targets=("name_target",))
    ('name_i', 'name_j')
    """
    return (*(train if names.train else ()), *(targets if names.targets else ()))


def names_of(names: ItemNames, part: str, indices: Iterable[int]) -> str:
    """What images are called; of a group, with semicolons between."""
    return "; ".join(names.of(part, index) for index in indices)
