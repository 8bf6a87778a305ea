"""One scale on both axes, with room around what is drawn."""

import numpy as np
import pytest

from pipeline.report.drawing.square_axes import BOTTOM, LEFT, RIGHT, TOP, SquareAxes


def test_the_axes_hold_all_values_and_a_little_more():
    axes = SquareAxes.around(np.array([-1.0, 3.0]))
    assert (axes.low, axes.high) == pytest.approx((-1.16, 3.16))
    assert axes.span == "−1.16 to 3.16"


@pytest.mark.parametrize(("values", "ends"), (([], (0.0, 1.0)), ([0.0], (-0.5, 0.5)), ([-4.0, -4.0], (-6.0, -2.0))))
def test_nothing_and_one_value_have_axes_too(values, ends):
    axes = SquareAxes.around(np.array(values))
    assert (axes.low, axes.high) == ends


def test_the_diagonal_goes_from_the_lower_left_to_the_upper_right():
    axes = SquareAxes(0.0, 2.0)
    assert (float(axes.x(0.0)), float(axes.y(0.0))) == (LEFT, BOTTOM)
    assert (float(axes.x(2.0)), float(axes.y(2.0))) == (RIGHT, TOP)
    assert RIGHT - LEFT == BOTTOM - TOP
    assert axes.dots(np.array([0.0, 2.0]), np.array([0.0, 1.0])) == "M46 256h0M292 133h0"


def test_ticks_stand_at_the_same_numbers_on_both_axes():
    axes = SquareAxes(0.0, 2.0)
    assert [tick.text for tick in axes.across] == [tick.text for tick in axes.up] != []
    for across, up in zip(axes.across, axes.up, strict=True):
        assert across.at - LEFT == pytest.approx(BOTTOM - up.at)
