"""The saddlepoint tail against the exact law of a few coins and against simulation of many."""

from itertools import product

import numpy as np
import pytest

from datamodels_inf.influence_tail import Tail


def exact(e, share, x):
    """P(T ≥ x) over all 2ⁿ outcomes."""
    total = 0.0
    for bits in product((0, 1), repeat=len(e)):
        chance = np.prod(np.where(np.array(bits) == 1, share, 1.0 - share))
        total += chance * (np.sum((np.array(bits) - share) * e) >= x)
    return total


def test_near_the_exact_law_of_fourteen_coins():
    rng = np.random.default_rng(0)
    e, share = rng.standard_normal(14), np.full(14, 0.3)
    tail = Tail.of(e, share, 1.0)
    spread = np.sqrt(np.sum(share * (1 - share) * e**2))
    for z in (1.0, 1.5, 2.0, 2.5):
        for sign in (1.0, -1.0):
            found = float(tail.pvalue(np.array([sign * z * spread / len(e)]))[0]) / 2.0
            assert found == pytest.approx(exact(sign * e, share, z * spread), rel=0.35, abs=2e-3)


@pytest.mark.parametrize("gamma", (0.1, 0.5, 0.8))
def test_near_the_simulated_law_of_many_coins(gamma):
    rng = np.random.default_rng(1)
    e, share = rng.exponential(size=400), np.full(400, gamma)
    e -= e.mean()
    sums = np.concatenate([(rng.random((2000, 400)) < gamma) @ e for _ in range(100)]) - gamma * e.sum()
    tail = Tail.of(e, share, 1.0)
    for sign in (1.0, -1.0):
        for level in (0.1, 0.01, 0.001):
            x = np.quantile(sign * sums, 1.0 - level)
            found = float(tail.pvalue(np.array([sign * x / 400]))[0]) / 2.0
            assert found == pytest.approx(level, rel=0.25)


def test_nothing_varies_or_lies_beyond_the_last_outcome():
    still = Tail.of(np.zeros(5), np.full(5, 0.5), 0.25)
    assert still.pvalue(np.array([0.0, 1.0, -1.0])).tolist() == [1.0, 1.0, 1.0]
    full = Tail.of(np.ones(6) - 1.0 / 6.0, np.array([0.0, 1.0, 0.5, 0.5, 0.5, 0.5]), 0.25)
    p = full.pvalue(np.array([0.5, 50.0, -50.0]))
    assert np.all((p > 0.0) & (p <= 1.0))  # Not known further than the last place, and never 0.


def test_large_and_small_residuals_and_one_outlier():
    rng = np.random.default_rng(2)
    e, share = rng.standard_normal(1000), np.full(1000, 0.2)
    plain = Tail.of(e, share, 0.16).pvalue(np.array([0.1, -0.2, 0.3]))
    for scale in (1e-200, 1e200):
        scaled = Tail.of(scale * e, share, 0.16).pvalue(scale * np.array([0.1, -0.2, 0.3]))
        np.testing.assert_allclose(scaled, plain, rtol=1e-6)
    e[0] = 1e9
    assert np.isfinite(Tail.of(e, share, 0.16).pvalue(np.array([1.0, -1.0, 1e7]))).all()
