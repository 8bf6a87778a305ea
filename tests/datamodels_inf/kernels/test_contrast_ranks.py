"""The compiled contrasts against the naive reference, scipy, and sums that cancel."""

import numpy as np
import pytest
from contrast_cases import all_pairs, arrays, case
from naive import naive_contrast, naive_residuals, naive_welch
from scipy.stats import wilcoxon

from datamodels_inf import contrast, contrast_many


@pytest.mark.parametrize("kind", ("coarse", "real", "huge"))
@pytest.mark.parametrize("n", (2, 3, 7, 63, 64, 65, 200, 413, 900))
def test_many_equal_the_naive_reference(n, kind):
    """On both sides of EXACT_UP_TO, rows that fill their words and rows that do not."""
    x, y, theta = case(n, n, kind=kind)
    pairs = all_pairs(9)[:: 1 if n < 100 else 7]
    results = contrast_many(x, y, pairs, theta=theta, bias=0.25, confidence=0.9)
    expected = np.array([naive_contrast(x, y, i, j, theta, 0.25, 0.9) for i, j in pairs]).T
    np.testing.assert_allclose(arrays(results), expected, rtol=1e-9, atol=1e-12 * np.abs(y).max())
    np.testing.assert_array_equal(results.n_informative, expected[5])
    np.testing.assert_array_equal(results.statistic, expected[4])
    np.testing.assert_allclose(results.pvalue, expected[3], rtol=1e-12)


@pytest.mark.parametrize("kind", ("coarse", "real"))
def test_many_groups_equal_the_naive_reference(kind):
    x, y, theta = case(5, 700, kind=kind)
    pairs = np.array([[[0, 1], [2, 3]], [[8, 4], [3, 0]], [[5, 6], [7, 1]]])
    results = contrast_many(x, y, pairs, theta=theta)
    expected = np.array([naive_contrast(x, y, i, j, theta) for i, j in pairs]).T
    assert (expected[5] > 20).all()
    np.testing.assert_allclose(arrays(results), expected, rtol=1e-9)


@pytest.mark.parametrize("n", (120, 3000))
def test_pvalues_are_scipys(n):
    x, y, theta = case(1, n, kind="real")
    pairs = all_pairs(9)[::9]
    results = contrast_many(x, y, pairs, theta=theta)
    for (i, j), p in zip(pairs, results.pvalue, strict=True):
        a, b = naive_residuals(x, y, i, j, theta, 0.0)
        d = np.concatenate([a, -b])
        exact = n == 120
        expected = wilcoxon(d, method="exact" if exact else "approx", correction=True).pvalue
        assert p == pytest.approx(expected, rel=1e-9 if exact else 0.02)


def test_estimate_and_interval_survive_cancellation():
    """Residuals of 10⁸ that vary by 1: against exact rational arithmetic."""
    rng = np.random.default_rng(0)
    x = rng.random((501, 4)) < 0.5
    y = 1e8 + rng.standard_normal(501)
    effect = contrast(x, y, 0, 1, theta=np.zeros(4))
    estimate, low, high = naive_welch(y[x[:, 0] & ~x[:, 1]], y[~x[:, 0] & x[:, 1]], 0.95)
    assert abs(estimate) < 1 < 1e3 * (high - low)
    assert (effect.estimate, *effect.interval) == pytest.approx((estimate, low, high), abs=3e-8)


def test_constant_residuals_have_no_interval():
    """Also where their mean cannot be written in binary: 0.1, five and seven times."""
    x = np.array([[1, 0]] * 5 + [[0, 1]] * 7, bool)
    for y in (np.full(12, 0.1), np.where(x[:, 0], 0.1, 0.3)):
        effect = contrast(x, y, 0, 1, theta=[0.0, 0.0])
        assert effect.interval == (-np.inf, np.inf)
        assert effect.estimate == pytest.approx(y[0] - y[-1], abs=1e-15)
    one_side_varies = contrast(x, np.append(np.full(11, 0.1), 5.0), 0, 1, theta=[0.0, 0.0])
    assert np.isfinite(one_side_varies.interval).all()


def test_one_outlier_does_not_hide_the_rest():
    """A response of 10¹⁵ neither ties nor reorders the others."""
    x, y, theta = case(3, 1000, kind="real")
    y[np.flatnonzero(x[:, 0] & ~x[:, 1])[0]] = 1e15
    assert contrast(x, y, 0, 1, theta=theta).pvalue == pytest.approx(naive_contrast(x, y, 0, 1, theta)[3], rel=1e-12)
