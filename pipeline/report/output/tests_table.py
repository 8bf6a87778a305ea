"""findings.csv and tests.csv: the tests, one line each, written from columns some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.columns import BATCH, codes_and_words
from pipeline.images.item_names import ItemNames
from pipeline.report.groups import Group
from pipeline.report.rows import COLUMNS, Row
from pipeline.report.work import Progress, silent
from pipeline.text.csv_columns import (
    flag_texts,
    float_texts,
    list_texts,
    quoted,
    whole_texts,
    word_texts,
    write_lines,
)
from pipeline.text.csv_text import csv_line

if TYPE_CHECKING:
    import pyarrow as pa


NAMED: dict[str, tuple[str, ...]] = {"train": ("name_i", "name_j"), "targets": ("name_target",)}
"""Columns of names, which come last."""


def write_tests(path: Path, groups: Sequence[Group], names: ItemNames, progress: Progress = silent) -> None:
    """All tests as CSV, one line each, in the order of the design, method after method."""
    _write(path, _header(names), (([], batch) for group in groups for batch in group.batches()), names, progress)


def write_findings(path: Path, groups: Sequence[Group], names: ItemNames, progress: Progress = silent) -> None:
    """The findings, each with its number on the page."""
    _write(path, ("number", *_header(names)), (one for group in groups for one in _numbered(group)), names, progress)


def _numbered(group: Group) -> Iterator[tuple[list[Any], pa.Table]]:
    """Findings in the order of their numbers, some at a time, which are asked for in one pass."""
    if not group.n_found:
        return
    found = group.table(group.places)
    for start in range(0, group.n_found, BATCH):
        part = found.slice(start, BATCH)
        yield [whole_texts(np.arange(start + 1, start + part.num_rows + 1))], part


def _write(
    path: Path, header: Sequence[str], parts: Iterable[tuple[list[Any], pa.Table]], names: ItemNames, progress: Progress
) -> None:
    with path.open("wb") as file:
        file.write(f"{csv_line(header)}\n".encode())
        for before, part in parts:
            write_lines(file, [*before, *_texts(part, names)])
            progress("lines", part.num_rows / 1e6)


def _header(names: ItemNames) -> tuple[str, ...]:
    return (*COLUMNS, *names.columns(**NAMED))


def _texts(part: pa.Table, names: ItemNames) -> list[Any]:
    """The cells of some tests, column by column; names of images come last, where they have any."""
    texts = [_column(part[name]) for name in COLUMNS]
    of = {"name_i": ("train", "members_i"), "name_j": ("train", "members_j"), "name_target": ("target", "target")}
    there = names.columns(**NAMED)
    return [*texts, *(_names(part[of[name][1]], names, of[name][0]) for name in there)]


def _column(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    kind = pa.types
    if kind.is_dictionary(column.type) or kind.is_string(column.type):
        return word_texts(*codes_and_words(column))
    whole = column.combine_chunks()
    if kind.is_floating(column.type):
        return float_texts(whole.to_numpy(zero_copy_only=False))
    if kind.is_boolean(column.type):
        return flag_texts(whole.to_numpy(zero_copy_only=False))
    return list_texts(whole) if kind.is_list(column.type) else whole_texts(whole)


def _names(column: pa.ChunkedArray, names: ItemNames, part: str) -> pa.Array:
    """What single images or the members of groups are called."""
    import pyarrow as pa

    whole = column.combine_chunks()
    if pa.types.is_list(whole.type):
        if (np.diff(whole.offsets.to_numpy()) != 1).any():
            return pa.array([quoted(names.of_group(part, members)) for members in whole.to_pylist()], pa.string())
        whole = whole.flatten()
    shown, codes = np.unique(whole.to_numpy(zero_copy_only=False), return_inverse=True)
    return word_texts(codes.ravel(), [names.of(part, index) for index in shown.tolist()])


def values_of(row: Row, names: ItemNames) -> dict[str, Any]:
    """Column → value of one test; a pair is two groups of one image each. Names of images come last, where any are."""
    values = {column: getattr(row, column) for column in COLUMNS}
    sides = {"members_i": row.left, "members_j": row.right}
    own = {"name_i": ("train", row.left), "name_j": ("train", row.right), "name_target": ("target", (row.target,))}
    there = names.columns(**NAMED)
    return {**values, **sides, **{column: names.of_group(*own[column]) for column in there}}
