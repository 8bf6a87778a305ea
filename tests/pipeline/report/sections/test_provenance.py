"""Where it comes from: the paper's erratum only beside its design, and no promise that a check has overtaken."""

import math

import pytest
from report_content import make_blocks, make_content, make_masks, make_row, make_rows

from pipeline.report.page import Page
from pipeline.report.sections.provenance import data

DESIGN = make_rows(2000, 0)


def of_paper(rows, correction="by"):
    return data(Page.of(make_content(rows, correction=correction)))["paper_design"]


def test_the_erratum_is_of_2000_tests_with_the_papers_correction():
    assert of_paper(DESIGN)
    assert not of_paper(DESIGN, "bh")
    assert not of_paper(DESIGN[1:])
    assert of_paper([*make_rows(9, 0, method="swap"), *DESIGN])
    assert not of_paper([*DESIGN[1:], make_row(0, finding=False, pvalue=math.nan)])  # 1999 were made.


@pytest.mark.parametrize("checked", (False, True))
def test_the_law_alone_promises_nothing_where_the_check_says_more(report, checked):
    folder, page = report(make_rows(9, 2), masks=make_masks() if checked else None)
    own = page.html[page.html.index('<section id="provenance">') :]
    assert ("Under this law a swap alone changes nothing" in own) != checked
    assert page.text.count("Under this law a swap alone changes nothing") == 1
    assert (folder / "report.json").is_file()
    assert "report.json (this page for programs)" in page.text


def test_blocks_of_models_are_listed(report):
    _, page = report(make_rows(9, 2), blocks=make_blocks(), n_models_test=900)
    assert "the first 100 only to fit, 900 others to test, in blocks of 200, 400, 300, each with" in page.text
