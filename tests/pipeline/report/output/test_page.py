"""The page: its answer first, its tables, its warnings, and every odd content it must survive."""

import dataclasses
import math
import re

import pytest
from report_content import EVIL, make_row, make_rows
from report_page import read_table

ENDS = {"low": -1, "high": 1, "low_selected": -1, "high_selected": 1}


@pytest.mark.parametrize(
    ("tests", "found", "expected"),
    [
        (2000, 7, "7 of 2000 pairs influence their target differently, at a false discovery rate of 0.2."),
        (2000, 1, "1 of 2000 pairs influences its target differently, at a false discovery rate of 0.2."),
        (
            40,
            0,
            "None of the 40 pairs was found to influence its target differently, at a false discovery rate of 0.2.",
        ),
        (1, 1, "1 of 1 pair influences its target differently, at a false discovery rate of 0.2."),
        (1, 0, "The one pair tested was not found to influence its target differently, at a false discovery"),
        (0, 0, "No pair was tested."),
    ],
)
def test_the_answer_comes_first(report, tests, found, expected):
    folder, page = report(make_rows(tests, found))
    assert page.text.startswith(f"Digits Digits {expected}")
    assert len(read_table(folder / "tests.csv")) == tests
    assert len(read_table(folder / "findings.csv")) == found
    panels = sorted(p.name for p in folder.glob("panels/*"))
    assert panels == [f"paired-{k:03d}.png" for k in range(1, found + 1)]
    assert ("5 × 10⁻⁵" in page.text) == (tests == 2000)


@pytest.mark.parametrize(("correction", "alpha", "share"), [("holm", 0.2, "a 20 %"), ("bonferroni", 0.08, "an 8 %")])
def test_a_family_wise_correction_promises_something_else(report, correction, alpha, share):
    _, page = report(make_rows(9, 3), correction=correction, alpha=alpha)
    assert f"3 of 9 pairs influence their target differently, with at most {share} chance of any false" in page.text
    assert "false discovery rate" not in page.text
    assert f"the chance that any of them has its Δ outside is at most {share.split(' ', 1)[1]}." in page.text
    assert "1 − α/m for each of m tests" in page.text
    assert "false coverage rate" not in page.text


def test_twenty_findings_with_fewer_panels(report):
    folder, page = report(make_rows(60, 20), max_panels=6)
    assert len(page.all("article")) == len(list(folder.glob("panels/*"))) == 6
    assert len(page.all("img")) == 18 + len(page.all("section", **{"class": "group"}))
    assert "14 more findings are in the table below and in findings.csv" in page.text
    assert len(page.rows) == 21
    assert [a["href"] for a in page.all("a") if a["href"].startswith("#")] == [f"#paired-{k}" for k in range(1, 7)]
    _, page = report(make_rows(60, 20), max_panels=19)
    assert "1 more finding is in the table" in page.text
    folder, page = report(make_rows(60, 20), max_panels=0)
    assert page.all("img") == []
    assert not (folder / "panels").exists()


def test_the_table_on_the_page_has_an_end(report):
    _, page = report(make_rows(2100, 2100), max_panels=0)
    assert len(page.rows) == 2001
    assert "The first 2000 of 2100 findings; all of them are in findings.csv" in page.text


def test_hostile_and_long_names_are_only_text(report):
    rows = [
        make_row(1, class_i=EVIL, class_target="x" * 400, note=EVIL, method=EVIL),
        make_row(2, class_j="", method="b"),
    ]
    folder, page = report(rows, title=EVIL, provenance={EVIL: EVIL}, configuration=f"# </pre>{EVIL}")
    assert page.html.count("<script") == 1
    assert page.text.count(EVIL) >= 8
    assert "that image (train" in page.text
    lines = read_table(folder / "findings.csv")
    assert lines[0]["class_i"] == EVIL


def test_effects_that_could_not_be_estimated(report):
    line, unknown = ({f"effect_{end}": value * sign for end, sign in ENDS.items()} for value in (math.inf, math.nan))
    rows = [
        make_row(1, effect=math.nan, **line, theta_i=math.nan, note="θ̂_i = θ̂_j: uninformative"),
        make_row(2, effect=0.31, **line),
        make_row(3, effect=0.31, **unknown, pvalue=0.0),
        *make_rows(40, 0),
    ]
    folder, page = report(rows, r2_median=math.nan, spearman_median=math.nan)
    assert sorted(row[10] for row in page.rows[1:]) == ["–", "–", "−∞ to ∞"]
    assert len(page.all("path", **{"class": "thick"})) == 1  # in the legend
    assert page.text.count("the effect could not be estimated") == 1
    assert "its 95 % interval is the whole line" in page.text
    assert "no interval is known" in page.text
    assert "θ̂_i = θ̂_j: uninformative" in page.text
    assert "median R² of the datamodels not known" in page.text
    assert "p < 10⁻³⁰⁰" in page.text
    assert not re.search(
        r"\bnan\b", re.sub(r'(src|data-s)="[^"]*"|<script>.*</script>', "", page.html, flags=re.DOTALL)
    )
    assert len(page.all("svg", **{"class": "bar"})) == 2
    assert {r["effect_high"] for r in read_table(folder / "findings.csv")} == {"inf", "nan"}


def test_another_unit_is_not_called_a_margin(report):
    _, page = report(make_rows(9, 2), unit="loss", mask_law="bernoulli", configuration="")
    assert "the loss on the target by" in page.text
    assert "more sure of the true class" not in page.text
    assert "as if by independent coins" in page.text
    assert "Configuration" not in page.text


def test_a_warning_stands_under_the_answer(report):
    _, page = report(make_rows(9, 2))
    assert "a swap alone changes nothing" in page.text
    _, page = report(make_rows(9, 2), provenance={"Warning": "the masks failed the check."})
    assert "at a false discovery rate of 0.2. Warning: the masks failed the check. " in page.text
    assert "a swap alone changes nothing" not in page.text


def test_methods_side_by_side_say_what_they_share(report):
    mine = make_rows(30, 9)
    theirs = [dataclasses.replace(row, method="swap") for row in mine[-4:]]
    _, page = report([*mine, *theirs])
    [rows] = [rows for kind, rows in page.tables if kind == "methods"]
    assert rows[0][4:] == ["also by paired", "also by swap"]
    assert rows[1][:3] == ["paired", "30", "9"]
    assert rows[1][4:] == ["", "4"]
    assert rows[2][4:] == ["4", ""]
