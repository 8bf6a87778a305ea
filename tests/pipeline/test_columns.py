"""Columns in memory: numbers, words and rows on demand."""

import numpy as np
import pyarrow as pa

from pipeline.columns import BATCH, TableColumns, codes_and_words, places_among


def make(n):
    return TableColumns.of({
        "i": np.arange(n), "pvalue": np.linspace(0, 1, n), "note": np.array(["", "x", "y"] * n, object)[:n],
        "members_i": np.fromiter(((k, k + 1) for k in range(n)), object, n),
    })  # fmt: skip


def test_columns_batches_and_rows_are_those_of_the_table():
    columns = make(BATCH + 5)
    assert len(columns) == BATCH + 5
    np.testing.assert_array_equal(columns.column("i"), np.arange(BATCH + 5))
    assert [batch.num_rows for batch in columns.batches()] == [BATCH, 5]
    assert {tuple(batch.column_names) for batch in columns.batches(["note"])} == {("note",)}
    some = columns.take(np.array([BATCH + 1, 3]))
    assert some["i"].to_pylist() == [BATCH + 1, 3]
    assert some["members_i"].to_pylist() == [[BATCH + 1, BATCH + 2], [3, 4]]


def test_words_are_told_by_number():
    assert places_among(make(7), "note", ["y", "z", "x"]).tolist() == [0, 3, 1, 0, 3, 1, 0]
    assert places_among(make(0), "note", ["y"]).tolist() == []
    codes, words = codes_and_words(pa.chunked_array([["a", "b"], ["b", "c"]]))
    assert [words[code] for code in codes] == ["a", "b", "b", "c"]
    codes, words = codes_and_words(pa.chunked_array([], pa.string()))
    assert codes.tolist() == words == []
