"""Cards of findings and of closest misses: groups whole, both intervals and what they promise."""

import dataclasses
import json
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


def test_the_page_says_what_the_two_intervals_promise(report):
    rows = [*make_rows(40, 6), *make_rows(30, 0, method="swap"), *make_rows(50, 2, method="contrast")]
    folder, page = report(rows)
    assert "Thick: the 95 % interval, right for a pair named in advance. Thin: the interval to trust for a" in page.text
    assert "on average at most 20 % of them have their Δ outside." in page.text
    total = {m: sum(1 / k for k in range(1, m + 1)) for m in (40, 50)}
    levels = [1 - 0.2 * found / (m * total[m]) for found, m in ((6, 40), (2, 50))]
    assert "at a higher level, 99.3 % for paired, 99.8 % for contrast:" in page.text
    assert page.rows[0][10] == "as a finding (99.3\N{NO-BREAK SPACE}%)"
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"]
    assert told[1]["selected_confidence"] is None
    assert [method["selected_confidence"] for method in told[::2]] == pytest.approx(levels)
    written = read_table(folder / "tests.csv")
    assert {(r["effect_low_selected"] == "nan") for r in written if r["finding"] == "false"} == {True}
    assert [float(r["effect_high_selected"]) for r in written if r["finding"] == "true"] == pytest.approx(
        [row.effect_high_selected for row in rows if row.finding], rel=1e-9
    )


def test_where_the_95_percent_interval_holds_for_findings_there_is_no_other(report):
    rows = [
        dataclasses.replace(row, effect_low_selected=row.effect_low, effect_high_selected=row.effect_high)
        for row in make_rows(4, 4)
    ]
    folder, page = report(rows, correction="bh")
    assert "Thick" not in page.text
    assert "thin line" not in page.text
    assert page.all("path", **{"class": "thick"}) == []
    assert {len(row) for row in page.rows} == {10}
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"][0]["selected_confidence"] == 0.95


def test_closest_misses_have_no_other_interval_either(report):
    _, page = report(make_rows(40, 0))
    assert "Thick" not in page.text
    assert page.all("path", **{"class": "thick"}) == []
    assert len(page.all("path", **{"class": "interval"})) == 5


def test_groups_are_shown_whole(report):
    row = make_row(5, class_i="dog", class_j="", members_i=(1, 2, 3, 4, 5), members_j=(6, 7, 8, 9, 10), i=1, j=6)
    many = make_row(6, members_i=tuple(range(11)), members_j=tuple(range(11)), n_informative=12)
    folder, page = report([row, many])
    assert "raining on these 5 dog images (train 1, 2, 3, …) instead of those 5 images (train 6, 7, 8, …)" in page.text
    shown = [a["alt"] for a in page.all("img") if a["alt"].startswith("train")]
    assert sorted(shown) == sorted([f"train {k}" for k in [*range(1, 11), *range(9), *range(9)]])
    assert len(page.all("div", **{"class": "mosaic"})) == 4
    lines = read_table(folder / "findings.csv")
    assert {line["members_i"] for line in lines} == {"1 2 3 4 5", "0 1 2 3 4 5 6 7 8 9 10"}
    assert {line["n_informative"] for line in lines} == {"", "12"}
    with Image.open(folder / "panels" / "paired-001.png") as panel:
        assert panel.width > 1000
    with pytest.raises(ValueError, match="`i` of a row is 12, but there are 12 images"):
        make_content([make_row(members_i=(1, 12), members_j=(2, 3))])
