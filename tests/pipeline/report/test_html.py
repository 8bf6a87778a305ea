"""The page as HTML survives every odd content."""

import math
import re

from report_content import EVIL, make_masks, make_row, make_rows
from report_page import read_table

from pipeline.report.content import Coding
from pipeline.report.html import listed_files
from pipeline.report.sections import File

ENDS = {"low": -1, "high": 1, "low_selected": -1, "high_selected": 1}


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


def test_files_are_listed_tables_first_and_of_a_folder_one():
    paths = ("overview.png", "report.json", "panels/a-2.png", "tests.csv", "panels/a-1.png", "findings.csv")
    files = [*(File(path, print) for path in paths), File("hidden.csv", print, listed=False)]
    assert [file.path for file in listed_files(files)] == [
        "tests.csv",
        "findings.csv",
        "report.json",
        "overview.png",
        "panels/a-2.png",
    ]


def test_the_script_sorts_by_the_numbers_of_the_table_and_filters_by_class_numbers(report):
    row = make_row(1, class_i='a"b', class_j="dog", target=7, pvalue=1.5e-9, effect=-0.25)
    _, page = report([row], class_names=("dog",))
    [item] = [a for a in page.all("tr") if "data-s" in a]
    assert (item["data-t"], item["data-c"]) == ("7", "1 0")
    assert item["data-s"].split()[0] == "1.5e-09"
    assert item["data-s"].split()[-1] == "-0.25"


def test_the_contents_lead_to_every_section_with_a_title(report):
    _, page = report(make_rows(9, 3), masks=make_masks(), coding=Coding("mask", 0.1, 0.2, 0.3))
    leads = [link["href"] for link in page.all("a") if link["href"].startswith("#") and "-" not in link["href"]]
    assert leads == [
        "#answer", "#findings", "#table", "#diagnostics", "#pvalues", "#masks", "#coding", "#provenance",
        "#table",  # Where a filter leaves no panel.
    ]  # fmt: skip
