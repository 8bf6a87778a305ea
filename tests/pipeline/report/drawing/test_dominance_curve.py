"""The ordinal dominance curve as a line in a square."""

import numpy as np

from datamodels_inf.methods import SCORES
from pipeline.report.drawing.dominance_curve import curve_view
from pipeline.report.evidence.curves import curve_of


def test_the_curve_starts_below_on_the_left_and_says_its_area():
    steps = curve_of(SCORES, np.array([1.0, 2.0]), np.array([2.0, 3.0, 3.0]))
    view = curve_view(steps, "margin")
    assert view.line == "M18 108L70 108L122 73.3L122 4"
    assert (view.below, view.area_text) == (True, "area 0.08")
