"""Predicted and realised counts as a drawing."""

import re

import numpy as np
import pytest

from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.report.content import Expectation
from pipeline.report.drawing.expected_counts import BOTTOM, LEFT, RIGHT, TOP, expected_plot

PRIOR = Prior(np.ones(1000), Shape.benjamini_yekutieli(1000))


def points(path):
    return [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_both_axes_are_logarithmic_and_a_line_begins_at_one_test():
    u = np.array([1e-4, 1e-3, 1e-2])
    expectation = Expectation(PRIOR, 5.0, u=u, predicted=np.array([1.0, 10.0, 100.0]), realised=np.array([0, 0, 10]))
    plot = expected_plot(expectation, 1e-3)
    middle = (LEFT + RIGHT) / 2
    assert points(plot.predicted) == [(LEFT, BOTTOM), (middle, (TOP + BOTTOM) / 2), (RIGHT, TOP)]
    assert points(plot.realised) == [(RIGHT, (TOP + BOTTOM) / 2)]
    assert plot.limit == pytest.approx(middle)
    assert plot.label.endswith("at u = 0.001 about 10 were expected, and 0 came")
    assert [tick.text for tick in plot.up] == ["1", "10", "100"]


def test_the_axis_begins_at_the_decade_of_the_smallest_count():
    u = np.array([1e-4, 1e-2])
    counts = {"predicted": np.array([230.0, 900.0]), "realised": np.array([200, 2000])}
    plot = expected_plot(Expectation(PRIOR, 5.0, u=u, **counts), 0.0)
    assert [tick.text for tick in plot.up] == ["100", "1000"]
    assert plot.up[0].at == BOTTOM
    assert points(plot.realised)[-1] == (RIGHT, TOP)


@pytest.mark.parametrize("limit", [0.0, 1e-9, 0.5])
def test_a_level_outside_the_plot_is_not_drawn(limit):
    u = np.array([1e-4, 1e-2])
    expectation = Expectation(PRIOR, 5.0, u=u, predicted=np.zeros(2), realised=np.zeros(2, np.int64))
    plot = expected_plot(expectation, limit)
    assert (plot.limit, plot.predicted, plot.realised) == (None, "", "")


def test_without_a_prediction_there_is_no_plot():
    assert expected_plot(Expectation(PRIOR, reason="nothing is known"), 0.1) is None
