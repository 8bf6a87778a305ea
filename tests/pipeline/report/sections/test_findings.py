"""Cards of findings and of closest misses; groups whole."""

import re

import pytest
from PIL import Image
from report_content import make_content, make_row, make_rows
from report_page import read_table

from pipeline.text.numbers import p_equals


def test_nothing_found_shows_the_closest_misses(report):
    rows = make_rows(40, 0)
    _, page = report(rows)
    assert "Nothing was found." in page.text
    assert len(page.all("article", **{"class": "card"})) == 5
    assert page.text.count("not a finding") == 5
    assert len(page.rows) == 0
    nearest = sorted(row.pvalue for row in rows)[:5]
    misses = dict(re.findall(r"Closest miss (\d) not a finding (p = [\d.]+)", page.text))
    assert misses == {str(k): p_equals(p) for k, p in enumerate(nearest, start=1)}


def test_groups_are_shown_whole(report):
    row = make_row(5, class_i="dog", class_j="", members_i=(1, 2, 3, 4, 5), members_j=(6, 7, 8, 9, 10), i=1, j=6)
    many = make_row(6, members_i=tuple(range(11)), members_j=tuple(range(11)), n_informative=12)
    classes = ["cat", *["dog"] * 5, *["cat"] * 3, *["dog"] * 2, "truck"]
    folder, page = report([row, many], train_classes=classes)
    assert (
        "raining on these 5 dog images (train 1, 2, 3, …) instead of those 5 images (3 cat, 2 dog; train 6, "
        "7, 8, …)" in page.text
    )
    shown = [words for words in page.pictures if words.startswith("train")]
    assert sorted(shown) == sorted([f"train {k}" for k in [*range(1, 11), *range(9), *range(9)]])
    assert len(page.all("div", **{"class": "mosaic"})) == 4
    lines = read_table(folder / "findings.csv")
    assert {line["members_i"] for line in lines} == {"1 2 3 4 5", "0 1 2 3 4 5 6 7 8 9 10"}
    assert {line["n_informative"] for line in lines} == {"", "12"}
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        assert panel.width > 1000
    with pytest.raises(ValueError, match="`i` of a row is 12, but there are 12 images"):
        make_content([make_row(members_i=(1, 12), members_j=(2, 3))])


def test_each_panel_says_how_many_models_tested_it(report):
    rows = [make_row(k, n_rows=1000, n_informative=480 + k) for k in range(3)]
    folder, page = report(rows)
    for k in range(3):
        assert f"Tested on 1,000 models, {480 + k} of which tell the two apart." in page.text
    assert {line["n_rows"] for line in read_table(folder / "tests.csv")} == {"1000"}
    assert "Tested on" not in report(make_rows(3, 3))[1].text
