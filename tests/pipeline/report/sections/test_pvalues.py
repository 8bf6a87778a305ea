"""The section of p-values: which methods have plots, and what is said of bounds."""

import math

from report_content import make_content, make_rows

from datamodels_inf.methods import METHODS
from pipeline.report.page import Page
from pipeline.report.sections.pvalues import data


def test_a_method_of_which_no_pvalue_is_known_has_no_plots():
    rows = [*make_rows(9, 2), *make_rows(4, 0, method="swap", pvalue=math.nan)]
    [view] = data(Page.of(make_content(rows)))["of_methods"]
    assert view.method.name == "paired"
    assert view.plots.histogram.label.startswith("Histogram of 9 p-values")
    assert set(view.heatmap.classes) == {"dog", "truck", "cat"}


def test_bounds_are_told_of_the_methods_that_have_them():
    rows = [row for name in ("swap", "contrast", "my own") for row in make_rows(5, 1, method=name)]
    views = {view.method.name: view for view in data(Page.of(make_content(rows)))["of_methods"]}
    assert views["swap"].bound == METHODS["swap"].bound != ""
    assert views["contrast"].bound == views["my own"].bound == ""


def test_the_page_says_why_pvalues_pile_up_at_1(report):
    _, page = report(make_rows(9, 2, method="swap"))
    assert METHODS["swap"].bound in page.text
    _, page = report(make_rows(9, 2, method="contrast"))
    assert METHODS["swap"].bound not in page.text


def test_a_correction_without_a_line_of_its_own_names_the_one_that_is_drawn(report):
    _, page = report(make_rows(9, 2), correction="closed-by")
    assert "Sorted, against the line of Benjamini–Yekutieli" in page.text
    assert "closed testing may add some after it" in page.text
    assert "closed Benjamini–Yekutieli, level 0.2" in page.text
    _, page = report(make_rows(9, 2), correction="holm")
    assert "Sorted, against the line of Holm" in page.text
