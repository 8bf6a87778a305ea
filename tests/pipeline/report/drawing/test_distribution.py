"""How a figure spreads over targets."""

import math

import numpy as np
import pytest

from pipeline.report.drawing.distribution import distribution_of, log_columns


def test_a_logarithmic_spread_has_its_median_between_powers_of_ten():
    columns = log_columns("λ", np.array([1e-3, 1e-2, 1e-1, 0.0, math.nan]))
    spread = distribution_of(columns)
    assert [tick.text for tick in spread.ticks] == ["10⁻³", "0.01", "0.1"]
    assert spread.median.at == pytest.approx((14 + 306) / 2)
    assert spread.note == "One dot a target; not defined for 2 targets."
    assert log_columns("λ", np.array([math.nan])) is None
    assert len(distribution_of(log_columns("λ", np.array([0.5]))).ticks) == 2
