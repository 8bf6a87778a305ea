"""What a test returns: entries, decisions at a level, and levels that are none."""

import numpy as np
import pytest
from swap_samples import GOOD, THETA, X, Y, data

import datamodels_inf as di
from datamodels_inf import SquaredResidual, swap_test, swap_test_many


def test_reject_includes_the_level_itself():
    x, y, theta = data("gaussian", 1, n=80)
    one = swap_test(x, y, 0, 1, score=SquaredResidual(theta + 0.5), pvalue="exact")
    assert 0 < one.pvalue < 1
    assert one.reject(one.pvalue)
    assert not one.reject(one.pvalue * (1 - 1e-9))
    many = swap_test_many(x, y, [(0, 1)], score=SquaredResidual(theta + 0.5), pvalue="exact")
    assert many.reject(one.pvalue).all()


def test_results_are_structured():
    x, y, theta = data("bool", 0)
    many = swap_test_many(x, y, [(0, 1), (2, 3)], score=SquaredResidual(theta))
    assert len(many) == 2
    assert many.reject(0.999999).dtype == bool
    assert many[1] == swap_test(x, y, 2, 3, score=SquaredResidual(theta))
    assert isinstance(many[0], di.SwapTestResult)
    assert len(swap_test_many(x, y, np.empty((0, 2), int), score=SquaredResidual(theta))) == 0


@pytest.mark.parametrize("alpha", (0.0, 1.0, -1, 2, np.nan, "0.1", None, [0.1]))
def test_bad_level(alpha):
    one = swap_test(**GOOD)
    with pytest.raises(ValueError, match="`alpha` must lie strictly between 0 and 1"):
        one.reject(alpha)
    with pytest.raises(ValueError, match="`alpha`"):
        swap_test_many(X, Y, [(0, 1)], score=SquaredResidual(THETA)).reject(alpha)
