"""Spearman's correlation of resamples, against scipy on the resampled models themselves."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from datamodels_inf.kernels.resampled_ranks import resampled_spearman


def order_of(values):
    order = np.argsort(values, kind="stable")
    return order, np.append(np.diff(values[order]) != 0, True)


@pytest.mark.parametrize("levels", (3, 10, 10_000), ids=("many ties", "some ties", "hardly a tie"))
def test_each_resample_is_what_scipy_says_of_it(levels):
    rng = np.random.default_rng(levels)
    n = 80
    x = rng.integers(0, levels, n) / 7.0
    y = np.round(x + rng.standard_normal(n), 1)
    rows = rng.integers(0, n, (25, n))
    counts = np.stack([np.bincount(row, minlength=n) for row in rows]).astype(np.int16)
    out = np.empty(25)
    resampled_spearman(counts, *order_of(x), *order_of(y), out)
    np.testing.assert_allclose(out, [spearmanr(x[row], y[row]).statistic for row in rows], rtol=1e-12)


def test_a_constant_resample_has_no_correlation():
    counts = np.array([[3, 0, 0], [1, 1, 1]], np.int16)
    values, out = np.array([1.0, 2.0, 3.0]), np.empty(2)
    resampled_spearman(counts, *order_of(values), *order_of(-values), out)
    assert np.isnan(out[0])
    assert out[1] == -1.0
