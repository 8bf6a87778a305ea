"""Counts on columns of bits against counts on columns of numbers."""

import numpy as np
import pytest
from swap_samples import SCORES, data

import datamodels_inf as di
from datamodels_inf import paired_swap_test_many, swap_test_many


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n", (2, 3, 64, 127, 128, 129, 640, 1001))
def test_columns_of_bits_and_columns_of_numbers_count_alike(n, score):
    """Masks as bits, and the same masks as numbers, which take the other kernel; θ̂_i = θ̂_j for some pairs."""
    x, y, theta = data("bool", n, n=n)
    y = y + np.where(np.arange(n) % 3 == 0, 0.1, 0.0)
    singles = np.array([(a, b) for a in range(12) for b in range(a)])
    groups = np.array([[[0, 5], [9, 1]], [[3, 4], [2, 11]]])
    equal = theta[singles[:, 0]] == theta[singles[:, 1]]
    assert equal.any() and not equal.all()
    for pairs in (singles, groups):
        for test in (swap_test_many, paired_swap_test_many):
            for seed in (0, 1):
                a, b, c = (
                    test(features, y, pairs, score=SCORES[score](theta), tau=0.02, rng=seed)
                    for features in (x, x.astype(float), di.PackedMasks.from_bool(x))
                )
                for name in ("statistic", "pvalue", "n_ties"):
                    np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
                    np.testing.assert_array_equal(getattr(a, name), getattr(c, name))
