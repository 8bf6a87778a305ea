"""One way to write a value into a cell, for files and for the terminal."""

import csv
import io
import math

import numpy as np
import pytest

from pipeline.text.csv_text import csv_line, plain, write_csv
from pipeline.text.numbers import terminal_pvalue


@pytest.mark.parametrize(
    ("value", "text"),
    (
        (None, ""), (True, "true"), (np.False_, "false"), (3, "3"), (0.1, "0.1"), (1 / 3, "0.3333333333"),
        (np.float32(0.5), "0.5"), (math.nan, "nan"), (math.inf, "inf"), ((4, 17), "4 17"), ("a b", "a b"),
    ),
)  # fmt: skip
def test_a_value_in_a_cell(value, text):
    assert plain(value) == text


def test_a_file_and_its_lines_are_the_same_text(tmp_path):
    lines = [("dog", 0.25, (1, 2)), ("a, b", None, (3,)), ('"quoted"\nin two lines', True, ())]
    write_csv(tmp_path / "table.csv", ("class", "p", "members"), iter(lines))
    text = (tmp_path / "table.csv").read_bytes().decode()
    assert text == "".join(f"{csv_line(line)}\n" for line in (("class", "p", "members"), *lines))
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["class", "p", "members"], *([plain(value) for value in line] for line in lines)]


def test_a_pvalue_in_a_terminal_is_never_zero():
    assert [terminal_pvalue(p) for p in (0.0, 5e-324, 0.01234, 1.0)] == ["<1e-300", "4.94e-324", "0.0123", "1"]
