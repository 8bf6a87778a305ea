"""The swap test: its p-values from its counts, packed masks, odd samples, and rows that do not share one law."""

import numpy as np
import pytest
from long_runs import times
from naive import naive_exact_pvalue, naive_swap_counts
from scipy.stats import binom
from swap_samples import PAIRS, data

import datamodels_inf as di
from datamodels_inf import SquaredResidual, paired_swap_test, paired_swap_test_many, swap_test, swap_test_many

DATA_SETS = times(1000, 2000)


def test_pvalues_are_those_of_the_counts():
    x, y, _ = data("gaussian", 1, n=80)
    y = 30 * x[:, 0] + y
    score = SquaredResidual(np.eye(12)[0] * 30)
    wins, ties = naive_swap_counts(x, y, 0, 1, score)
    assert ties == 0
    u, n = wins / 40, 80
    assert abs(u - 0.5) > 0.2
    hoeffding = swap_test(x, y, 0, 1, score=score, tau=0.01, tau_x=0.02).pvalue
    assert hoeffding == pytest.approx(min(1, 2 * np.exp(-n * max(0, abs(u - 0.5) - 0.03) ** 2)))
    exact = swap_test(x, y, 0, 1, score=score, tau=0.01, tau_x=0.02, pvalue="exact").pvalue
    assert exact == pytest.approx(naive_exact_pvalue(wins, 40, 0.03))


@pytest.mark.parametrize("size", PAIRS)
def test_packed_masks_give_the_same_results(size):
    x, y, theta = data("bool", 6, n=301)
    packed = di.PackedMasks.from_bool(x)
    i, j = PAIRS[size]
    pairs = np.array([[i, j]])
    for test, many in ((swap_test, swap_test_many), (paired_swap_test, paired_swap_test_many)):
        for score in (SquaredResidual(theta, 0.3), lambda x, y: (y - x @ theta) ** 2):
            assert test(packed, y, i, j, score=score, rng=2) == test(x, y, i, j, score=score, rng=2)
            assert many(packed, y, pairs, score=score, rng=2)[0] == test(x, y, i, j, score=score, rng=2)
    dense, bits = (di.contrast_many(z, y, pairs, theta=theta)[0] for z in (x, packed))
    assert dense == bits == di.contrast(x, y, i, j, theta=theta)


def test_odd_sample_is_dropped():
    x, y, theta = data("gaussian", 3, n=101)
    score = SquaredResidual(theta)
    y[-1] = 1e9
    assert swap_test(x, y, 0, 1, score=score, order="given") == swap_test(
        x[:100], y[:100], 0, 1, score=score, order="given"
    )
    assert swap_test(x, y, 0, 1, score=score).n == 100


def test_rows_of_different_laws_keep_the_level_when_permuted():
    """The noise grows sixfold along the rows: the given order finds a difference that is none."""
    rejected = {"given": 0, "permuted": 0}
    for seed in range(DATA_SETS):
        rng = np.random.default_rng(seed)
        x = rng.random((100, 4)) < 0.5
        y = x[:, 0] * 1.0 + x[:, 1] + np.geomspace(1, 6, 100) * rng.standard_normal(100)
        for order in rejected:
            result = swap_test(x, y, 0, 1, score=SquaredResidual([1, 0, 0, 0]), pvalue="exact", order=order, rng=seed)
            rejected[order] += result.reject(0.05)
    assert rejected["permuted"] <= binom.ppf(1 - 1e-6, DATA_SETS, 0.05)
    assert rejected["given"] > DATA_SETS / 2
