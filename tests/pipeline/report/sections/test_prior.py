"""Predicted against realised, and what a prior in use changes on the page."""

import json

import numpy as np
import pytest
from report_content import make_counts, make_rows, make_weighted
from report_page import read_table

from datamodels_inf.prior import Prior
from pipeline.report.sections.prior import prior_line


def weighted_report(report, correction):
    rows, expectations = make_weighted(make_rows(60, 24))
    counts = {"paired": make_counts(prior=24)}
    folder, page = report(rows, counts=counts, expectations=expectations, correction=correction, max_panels=1)
    return folder, page, rows, expectations["paired"]


def test_a_prior_that_is_known_is_drawn_and_told(report):
    folder, page, _, expectation = weighted_report(report, "by")
    assert "Predicted and realised" in page.text
    assert prior_line(expectation) in page.text
    assert "the promise of this correction would hold however wrong the prediction is" in page.text
    assert "The upright line" not in page.text
    [told] = json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"]
    assert told["prior"]["realised"] == expectation.realised.tolist()
    assert told["prior"]["predicted"] == pytest.approx(expectation.predicted.tolist())
    assert told["prior"]["centre"] == expectation.centre
    assert told["selected_confidence"] == pytest.approx(told["selected_confidence_range"][0])


def test_one_in_use_makes_levels_a_range_and_compares_p_over_w(report):
    folder, page, rows, expectation = weighted_report(report, "prior")
    [told] = json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"]
    low, high = told["selected_confidence_range"]
    assert told["selected_confidence"] is None
    assert 0.95 < low < high < 1.0
    assert told["threshold"] == pytest.approx(0.2 * float(expectation.prior.shape.beta(24)) / 60)
    assert page.rows[0][10] == "as a finding (98\N{NO-BREAK SPACE}% to 99\N{NO-BREAK SPACE}%, by its weight)"
    assert "at a higher level, 98 % to 99 %, by its weight: 1 − α·w·β(R)/m" in page.text
    assert "threshold of p/w 0.01" in page.text
    assert "rank of p/w" in page.text
    assert "The upright line is the level of the findings." in page.text
    written = read_table(folder / "tests.csv")
    assert [float(line["weight"]) for line in written] == pytest.approx([row.weight for row in rows], rel=1e-9)
    largest = max(row.pvalue / row.weight for row in rows if row.finding)
    assert f"largest of a finding {largest:.3g}".replace("e-06", " × 10⁻⁶") in page.text


def test_a_shape_that_starts_late_still_has_a_page(report):
    """β(1) = 0: the line of the correction begins below the plot."""
    rows, expectations = make_weighted(make_rows(60, 24))
    known = expectations["paired"]
    late = type(known.prior.shape)(60, np.array([20]), np.array([1.0]), 0.0)
    expectations = {"paired": type(known)(Prior(known.prior.weight, late), 20.0)}
    _, page = report(rows, expectations=expectations, correction="prior")
    assert "Predicted and realised" not in page.text
    assert page.all("svg", **{"class": "sorted"})
