"""Agreement of re-runs with the test that they repeat, against scipy and by hand."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from datamodels_inf.neighbours.agreement import agreement


@pytest.mark.parametrize("coarse", (False, True), ids=("no ties", "ties"))
def test_figures_are_those_of_scipy(coarse):
    rng = np.random.default_rng(0)
    once = rng.standard_normal(40)
    again = once + rng.standard_normal(40)
    p, q = rng.random((2, 40)) ** 3
    if coarse:
        once, again, p, q = (np.round(2 * values) / 2 for values in (once, again, p, q))
    found = agreement(once, p, again, q)
    assert found.n == 40
    assert found.same_sign == np.mean(np.sign(once) == np.sign(again))
    assert found.effects == pytest.approx(spearmanr(once, again).statistic)
    assert found.pvalues == pytest.approx(spearmanr(-np.log(p + 1e-9), -np.log(q + 1e-9)).statistic)


def test_a_rerun_of_the_same_agrees_and_one_turned_around_does_not():
    effect, p = np.array([0.5, -0.2, 0.1, -0.9]), np.array([0.01, 0.3, 0.6, 0.001])
    same, turned = agreement(effect, p, effect, p), agreement(effect, p, -effect, p)
    assert (same.same_sign, same.effects, same.pvalues) == (1.0, pytest.approx(1.0), pytest.approx(1.0))
    assert (turned.same_sign, turned.effects) == (0.0, pytest.approx(-1.0))


def test_agreement_leaves_out_what_is_unknown():
    nan = float("nan")
    once, again = np.array([1.0, -1.0, nan, 2.0]), np.array([0.5, 1.0, 1.0, nan])
    found = agreement(once, np.full(4, 0.5), again, np.full(4, 0.1))
    assert (found.n, found.same_sign) == (2, 0.5)
    assert np.isnan(found.pvalues)
    assert agreement(once[2:3], np.ones(1), again[2:3], np.ones(1)).n == 0
