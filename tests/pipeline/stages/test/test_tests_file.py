"""The table of all tests, read by columns of one method, wherever its groups of rows begin."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from pipeline.stages.test.tests_file import MethodTests

N = 50


@pytest.fixture(params=[7, 25, 1000])
def folder(tmp_path, request):
    """Three methods of N tests each, in groups of rows that know nothing of methods."""
    rows = np.arange(3 * N)
    table = pa.table({
        "method": np.repeat(["a", "b", "c"], N), "i": rows, "pvalue": rows / (3 * N),
        "note": np.array(["", "x", "y"])[rows % 3], "class_i": np.array(["dog", "cat"])[rows % 2],
        "members_i": [[k] if k % 5 else [k, k + 1] for k in rows.tolist()],
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "tests.parquet", row_group_size=request.param)
    return tmp_path


@pytest.mark.parametrize(("method", "place"), [("a", 0), ("b", 1), ("c", 2)])
def test_each_method_has_its_own_rows(folder, method, place):
    tests = MethodTests.of(folder, method, ("a", "b", "c"), N)
    own = np.arange(place * N, (place + 1) * N)
    assert len(tests) == N
    np.testing.assert_array_equal(tests.column("i"), own)
    np.testing.assert_array_equal(tests.sizes(), np.where(own % 5, 1, 2))
    assert pa.concat_tables(tests.batches(["note"]))["note"].to_pylist() == [["", "x", "y"][k % 3] for k in own]
    assert "method" not in next(iter(tests.batches())).column_names


def test_rows_come_in_the_order_in_which_they_are_asked_for(folder):
    tests = MethodTests.of(folder, "b", ("a", "b", "c"), N)
    places = np.array([49, 0, 17, 0, 30])
    some = tests.take(places)
    assert some["i"].to_pylist() == (places + N).tolist()
    assert some["class_i"].to_pylist() == [["dog", "cat"][(k + N) % 2] for k in places]
    assert tests.take(places, ["i"]).column_names == ["i"]
    assert tests.take(np.zeros(0, np.int64)).num_rows == 0


def test_a_table_without_columns_of_words_can_be_read_too(tmp_path):
    parquet.write_table(pa.table({"method": ["a", "a"], "after_1": [0.1, 0.2]}), tmp_path / "growth.parquet")
    assert MethodTests(tmp_path / "growth.parquet", 0, 2).column("after_1").tolist() == [0.1, 0.2]
