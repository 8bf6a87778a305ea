"""The tables for programs hold the numbers of the page."""

import dataclasses
import math
import re

import numpy as np
import pytest
from report_content import EVIL, make_row, make_rows
from report_page import read_table, value_of

from pipeline.images.item_names import ItemNames
from pipeline.report import COLUMNS
from pipeline.report.output.tests_table import values_of
from pipeline.text.csv_text import csv_line
from pipeline.text.numbers import number, p_equals


def test_numbers_on_the_page_are_those_of_the_table(report):
    rows = make_rows(50, 30)
    folder, page = report(rows)
    assert (folder / "tests.csv").read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)
    written = read_table(folder / "tests.csv")
    assert [int(r["i"]) for r in written] == [row.i for row in rows]
    assert [float(r["effect"]) for r in written] == pytest.approx([row.effect for row in rows], rel=1e-9)
    assert {r["finding"] for r in written} == {"true", "false"}
    for cells, line in zip(page.rows[1:], read_table(folder / "findings.csv"), strict=True):
        assert cells[0] == line["number"]
        assert cells[1] == f"{line['class_target']} {line['target']}"
        assert cells[2] == f"{line['class_i']} {line['i']}"
        columns = ("statistic", "pvalue", "pvalue_adjusted", "theta_i", "theta_j")
        for text, column in zip(cells[4:9], columns, strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), rel=0.0051)
        effect = re.fullmatch(r"(\S+) \((\S+) to (\S+)\)", cells[9]).groups()
        for text, column in zip(effect, ("effect", "effect_low", "effect_high"), strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), abs=0.0051)
        for text, column in zip(cells[10].split(" to "), ("effect_low_selected", "effect_high_selected"), strict=True):
            assert value_of(text) == pytest.approx(float(line[column]), abs=0.0051)
        assert f"{p_equals(float(line['pvalue']))} adjusted {number(float(line['pvalue_adjusted']))}" in page.text
    keys = ("pvalue", "pvalue_adjusted", "statistic", "theta_i", "theta_j", "effect")
    items = [a for a in page.all("tr") if "data-s" in a]
    assert [a["data-s"].split() for a in items] == [[r[k] for k in keys] for r in read_table(folder / "findings.csv")]
    assert [a["data-t"] for a in items] == [r["target"] for r in read_table(folder / "findings.csv")]


def test_a_pair_is_two_groups_of_one(report):
    folder, _ = report([make_row(1)])
    [line] = read_table(folder / "findings.csv")
    assert (line["members_i"], line["members_j"]) == (line["i"], line["j"])


def test_names_have_columns_of_their_own_where_there_are_any(report):
    names = ItemNames(train=("age", EVIL, *"cdefghijkl"))
    row = make_row(1, i=0, j=1, members_i=(0, 2), members_j=(1, 3))
    folder, page = report([row], names=names)
    (line,) = read_table(folder / "findings.csv")
    assert tuple(line) == ("number", *COLUMNS, "name_i", "name_j")
    assert (line["name_i"], line["name_j"]) == ("age; c", f"{EVIL}; d")
    assert "these 2 images (age, c; train 0, 2)" in page.text
    folder, _ = report([row], names=ItemNames(targets=("first",) * 12))
    assert tuple(read_table(folder / "tests.csv")[0]) == (*COLUMNS, "name_target")


@pytest.mark.parametrize("names", [ItemNames(), ItemNames(train=("age", EVIL, "a, b", "=1", *"efghijkl"))])
def test_every_cell_is_what_a_row_by_itself_would_be(report, names):
    """The tables are written from columns; here each line is made again from its row."""
    rng = np.random.default_rng(0)
    rows = [
        make_row(k, finding=k % 3 == 0, class_i=["dog", EVIL, "a, b", "=1"][k % 4], pvalue=p, n_rows=k)
        for k, p in enumerate([0.0, 1.0, math.nan, 1e-300, *(10.0 ** rng.uniform(-12, 0, 300)).tolist()])
    ]
    rows[5] = dataclasses.replace(rows[5], effect=math.nan, effect_low=-math.inf, effect_high=math.inf, theta_i=-0.0)
    rows[6] = dataclasses.replace(rows[6], members_i=(1, 2, 3), members_j=(4, 5, 6), n_informative=7, note='say "x"')
    folder, _ = report(rows, names=names)
    lines = (folder / "tests.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == [csv_line(values_of(row, names).values()) for row in rows]
    found = sorted((row for row in rows if row.finding), key=lambda row: row.pvalue)
    lines = (folder / "findings.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(found) + 1
    assert lines[2] == csv_line((2, *values_of(found[1], names).values()))
