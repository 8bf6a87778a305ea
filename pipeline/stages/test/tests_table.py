"""The test stage's tables, written a group of rows at a time: design.parquet, and tests.parquet for all methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.internal.checks import Ints
from pipeline.images.image_set import Labels
from pipeline.stages.test.pair_chunks import EFFECTS, NOTES
from pipeline.store.unfinished_steps import read_again

ROWS = 2**16
"""Rows of a row group; it does not depend on the chunks, so that equal results are equal bytes."""
FLOATS = ("statistic", "pvalue", "theta_i", "theta_j", *EFFECTS)


def write_design(path: Path, pairs: Pairs) -> None:
    """One row per pair, in the order of the tests."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([*_fields(("i", "j", "target"), pa.int64()), *_member_fields(), ("kind", pa.string())])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, len(pairs), ROWS):
            tests = slice(start, min(start + ROWS, len(pairs)))
            kinds = _words(pairs.kind[tests], pairs.kinds)
            writer.write_table(pa.table({**_pair_columns(pairs, tests), "kind": kinds}, schema))


def write_tests(
    path: Path, pairs: Pairs, chunks: Sequence[Path], methods: Sequence[str], labels: Labels | None
) -> dict[str, dict[str, int]]:
    """One row per method and pair: the methods one after the other, each with all pairs in the order of the design.

    Returns for each method how many of its rows have which note.
    """
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([
        ("method", pa.string()),
        *_fields(("i", "j", "target"), pa.int64()),
        *_fields(FLOATS, pa.float64()),
        ("n_informative", pa.int64()),
        *_fields(("class_i", "class_j", "class_target", "note"), pa.string()),
        *_member_fields(),
    ])  # fmt: skip
    notes: dict[str, dict[str, int]] = {}
    with parquet.ParquetWriter(path, schema) as writer:
        for method in methods:
            counts = np.zeros(len(NOTES), np.int64)
            start = 0
            for part in _regrouped(_parts(chunks, method), ROWS):
                tests = slice(start, start + len(part["note"]))
                columns = {**part, **_pair_columns(pairs, tests)}
                columns |= _classes(columns, labels)
                columns["method"] = _words(np.zeros(len(part["note"]), np.int8), (method,))
                columns["note"] = _words(part["note"], NOTES)
                writer.write_table(pa.table(columns, schema))
                counts += np.bincount(part["note"], minlength=len(NOTES))
                start = tests.stop
            notes[method] = {note: int(n) for note, n in zip(NOTES, counts, strict=True) if note and n}
    return notes


def write_growth(path: Path, chunks: Sequence[Path], methods: Sequence[str]) -> None:
    """The p-values after each block of rows, in the order of `write_tests`: one column a block, after_1, after_2, …"""
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    try:
        for method in methods:
            for part in _regrouped(_growths(chunks, method), ROWS):
                after = part["growth"]
                columns = {f"after_{k + 1}": after[:, k] for k in range(after.shape[1])}
                table = pa.table({"method": _words(np.zeros(len(after), np.int8), (method,)), **columns})
                writer = writer or parquet.ParquetWriter(path, table.schema)
                writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _parts(chunks: Sequence[Path], method: str) -> Iterator[dict[str, NDArray[Any]]]:
    """Of each chunk the columns of one method."""
    shared = ("theta_i", "theta_j", *EFFECTS, "n_informative")
    for path in chunks:
        columns = read_again(path)
        own = {name: columns[f"{name} {method}"] for name in ("statistic", "pvalue", "note")}
        yield {**{name: columns[name] for name in shared}, **own}


def _growths(chunks: Sequence[Path], method: str) -> Iterator[dict[str, NDArray[Any]]]:
    """Of each chunk the p-values of one method after each block."""
    for path in chunks:
        columns = read_again(path)
        yield {"growth": columns[f"growth {method}"], "note": columns[f"note {method}"]}


def _regrouped(parts: Iterable[Mapping[str, NDArray[Any]]], rows: int) -> Iterator[dict[str, NDArray[Any]]]:
    """The same rows, `rows` at a time."""
    held: dict[str, NDArray[Any]] = {}
    for part in parts:
        held = {name: np.concatenate([held[name], array]) if held else array for name, array in part.items()}
        while len(held["note"]) >= rows:
            yield {name: array[:rows] for name, array in held.items()}
            held = {name: array[rows:] for name, array in held.items()}
    if held and len(held["note"]):
        yield held


def _pair_columns(pairs: Pairs, tests: slice) -> dict[str, Any]:
    import pyarrow as pa

    bounds = pairs.bounds[tests.start : tests.stop + 1]
    first = bounds[:-1]
    columns: dict[str, Any] = {"i": pairs.left[first], "j": pairs.right[first], "target": pairs.target[tests]}
    for name, members in (("members_i", pairs.left), ("members_j", pairs.right)):
        offsets = pa.array((bounds - bounds[0]).astype(np.int32))
        columns[name] = pa.ListArray.from_arrays(offsets, pa.array(members[bounds[0] : bounds[-1]]))
    return columns


def _classes(columns: Mapping[str, Any], labels: Labels | None) -> dict[str, Any]:
    """The classes of i, j (of groups, of the first member) and the target; empty where they are not known."""
    if labels is None:
        return {f"class_{name}": _words(np.zeros(len(columns[name]), np.int8), ("",)) for name in ("i", "j", "target")}
    of = {"i": labels.train_labels, "j": labels.train_labels, "target": labels.target_labels}
    return {f"class_{name}": _words(known[columns[name]], labels.class_names) for name, known in of.items()}


def _words(codes: Ints | NDArray[np.int8], words: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(words, pa.string())).cast(
        pa.string()
    )


def _fields(names: Sequence[str], kind: Any) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names]


def _member_fields() -> list[tuple[str, Any]]:
    import pyarrow as pa

    return _fields(("members_i", "members_j"), pa.list_(pa.int64()))
