"""One way to write a value into a cell, for files and for the terminal."""

import csv
import io
import math

import numpy as np
import pytest

from pipeline.text.csv_text import cell, csv_line, plain, write_csv
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
    lines = [("dog", 0.25, (1, 2)), ("a, b", None, (3,)), ('"quoted" and @', True, ())]
    write_csv(tmp_path / "table.csv", ("class", "p", "members"), iter(lines))
    text = (tmp_path / "table.csv").read_bytes().decode()
    assert text == "".join(f"{csv_line(line)}\n" for line in (("class", "p", "members"), *lines))
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["class", "p", "members"], *([plain(value) for value in line] for line in lines)]


@pytest.mark.parametrize(("value", "text"), [
    ("=HYPERLINK(1)", "'=HYPERLINK(1)"), ("+1+1", "'+1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("-1+cmd|'/c calc'!A0", None),
    ("\t=1+1", "' =1+1"), ("\r\n=1", "'  =1"), (" =1", "' =1"), ("a\x1b[2Jb\nc", "a [2Jb c"),
    ("\u202e=1", "' =1"), ("a\u2066b", "a b"), ("＝1+1", "'＝1+1"), ("＠x", "'＠x"),
    ("-0.5", "-0.5"), (-0.5, "-0.5"), ((1, 2), "1 2"), (None, ""), ("dog-1", "dog-1"), ("'", "'"),
])  # fmt: skip
def test_no_text_is_a_formula(tmp_path, value, text):
    wanted = f"'{value}" if text is None else text
    assert cell(value) == wanted
    write_csv(tmp_path / "x.csv", ("i", value if isinstance(value, str) else "n"), [(3, value)])
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1] == ["3", wanted]


def test_a_pvalue_in_a_terminal_is_never_zero():
    assert [terminal_pvalue(p) for p in (0.0, 5e-324, 0.01234, 1.0)] == ["<1e-300", "4.94e-324", "0.0123", "1"]
