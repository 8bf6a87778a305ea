"""Columns become just the cells that `csv_text` writes one by one."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest

from pipeline.text.csv_columns import (
    flag_texts,
    float_texts,
    list_texts,
    quoted,
    whole_texts,
    word_texts,
    write_lines,
)
from pipeline.text.csv_text import cell, plain


def hard_floats():
    rng = np.random.default_rng(0)
    halves = rng.integers(0, 100_000, 20_000) / 2.0 ** rng.integers(0, 40, 20_000)  # Ties between ten digits.
    edges = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-4, 9.99999999996e-5, 1e10, 9.99999999996e9, 9999999999.5]
    edges += [1e-5, 5e-324, -1e22, 0.5, 2.5, 1.00000000005, 1234567890.5, 12345678901.0, 0.1, 1e-3, 1e-2, 123456789.05]
    return np.concatenate([
        edges, halves, rng.normal(size=20_000), 10.0 ** rng.uniform(-30, 30, 20_000), np.round(rng.random(5000), 10)
    ])  # fmt: skip


def test_floats_have_the_ten_digits_that_python_writes():
    values = hard_floats()
    assert float_texts(values).to_pylist() == [format(value, ".10g") for value in values.tolist()]
    assert float_texts(-values).to_pylist() == [plain(-value) for value in values.tolist()]
    assert float_texts(np.zeros(0)).to_pylist() == []


def test_whole_numbers_flags_and_lists():
    assert whole_texts(pa.array([12, None, -3], pa.int64())).to_pylist() == ["12", "", "-3"]
    assert flag_texts(np.array([True, False])).to_pylist() == ["true", "false"]
    lists = pa.array([[1], [2, 30, 4], [5]], pa.list_(pa.int64()))
    assert list_texts(lists).to_pylist() == ["1", "2 30 4", "5"]
    assert list_texts(lists.slice(1)).to_pylist() == ["2 30 4", "5"]


@pytest.mark.parametrize("word", ["dog", "", "a, b", 'say "hi"', "=1+1", "-0.5", "two\nlines", "\ttab", "é ü", "'"])
def test_words_are_quoted_as_a_csv_writer_does(word):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([cell(word), "end"])
    assert f"{quoted(word)},end\n" == text.getvalue()
    assert word_texts(np.array([0, 1, 0]), [word, "x"]).to_pylist() == [quoted(word), "x", quoted(word)]


def test_lines_are_written_whole_and_in_order():
    file = io.BytesIO()
    write_lines(file, [pa.array(["a", "b"]), pa.array(["1", ""]), pa.array(["é", "z"])])
    write_lines(file, [pa.array(["x", "c"]).slice(1), pa.array(["2"]), pa.array(["y"])])
    write_lines(file, [pa.array([], pa.string())] * 3)
    assert file.getvalue().decode() == "a,1,é\nb,,z\nc,2,y\n"
