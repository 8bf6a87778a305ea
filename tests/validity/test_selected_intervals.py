"""Intervals of what was selected: their level by the formulas, their false coverage by simulation, their words."""

from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr

from datamodels_inf import adjust_pvalues, contrast_many
from datamodels_inf.contrast import effect_interval
from datamodels_inf.findings import finding_level
from datamodels_inf.multiplicity import selected_confidence

ALPHA, TESTS, RUNS = 0.2, 400, 300


@pytest.mark.parametrize(("arguments", "sentence"), [
    (("sidak", 0.2, 9, 1), "`correction` must be one of 'by', 'bh', 'holm', 'bonferroni'"),
    (("by", 1.0, 9, 1), "`alpha` must lie strictly between 0 and 1"),
    (("by", 0.2, 9, 0), "`n_found` must be a whole number of at least 1"),
    (("by", 0.2, 9, 10), "`n_tests` must be at least the 10 findings, but it is 9"),
])  # fmt: skip
def test_bad_input(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        selected_confidence(*arguments)


def normal_run(rng, size, correlated):
    """Estimates with normal noise of effects of which half are zero: estimates, errors, degrees, effects, p-values."""
    effects = np.where(rng.random(TESTS) < 0.5, rng.normal(0.0, size, TESTS), 0.0)
    noise = rng.standard_normal(TESTS)
    if correlated:
        shared = np.repeat(rng.standard_normal(TESTS // 20), 20) * rng.choice((-1, 1), TESTS)
        noise = 0.8 * shared + 0.6 * noise
    return effects + noise, np.ones(TESTS), np.full(TESTS, 1e9), effects, 2.0 * ndtr(-np.abs(effects + noise))


def contrast_run(rng, size):
    """Contrasts of pairs of one target, which share its models and so its residuals."""
    theta, x = rng.normal(0.0, size, 60), rng.random((1000, 60)) < 0.5
    pairs = np.array([rng.choice(60, 2, replace=False) for _ in range(TESTS)])
    results = contrast_many(x, x @ theta + rng.standard_normal(1000), pairs, theta=np.zeros(60))
    effects = theta[pairs[:, 0]] - theta[pairs[:, 1]]
    return results.estimate, results.standard_error, results.freedom, effects, results.pvalue


def missed_shares(draw, runs, level_of):
    """Of each run, the share of BY's findings whose interval at `level_of(R)` misses the effect; NaN without any."""
    rng = np.random.default_rng(1)
    shares = np.full(runs, np.nan)
    for run in range(runs):
        estimate, error, freedom, effects, pvalues = draw(rng)
        found = adjust_pvalues(pvalues) <= ALPHA
        if found.any():
            level = level_of(int(found.sum()))
            low, high = effect_interval(estimate[found], error[found], freedom[found], level)
            shares[run] = ((effects[found] < low) | (effects[found] > high)).mean()
    return shares


def false_coverage_rate(shares):
    """Runs without findings miss nothing."""
    return np.nan_to_num(shares).mean()


def by_level(n_found):
    return finding_level("by", ALPHA, TESTS, n_found)


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize(("size", "covered"), [(0.0, 0.0), (1.0, 0.55), (1.5, 0.85), (2.5, 0.93)])
def test_findings_are_covered_at_their_own_level_and_not_at_the_marginal_one(size, covered, correlated):
    """The marginal interval covers fewer of the findings, the smaller the effects; measured 0, 0.40, 0.79 and 0.91.

    The false coverage rate of the longer one is 0.02 to 0.05, far below α = 0.2: BY provides for any dependence.
    """
    draw = partial(normal_run, size=size, correlated=correlated)
    marginal = missed_shares(draw, RUNS, lambda n_found: 0.95)
    assert 1.0 - np.nanmean(marginal) <= covered
    assert false_coverage_rate(missed_shares(draw, RUNS, by_level)) <= 0.1 < ALPHA


@pytest.mark.parametrize(("size", "covered"), [(0.08, 0.85), (0.15, 0.93)])
def test_the_same_of_contrasts(size, covered):
    draw = partial(contrast_run, size=size)
    assert 1.0 - np.nanmean(missed_shares(draw, 60, lambda n_found: 0.95)) <= covered
    assert false_coverage_rate(missed_shares(draw, 60, by_level)) <= 0.1 < ALPHA


def test_the_check_catches_levels_that_forget_the_selection():
    """The marginal 95 %, and α·R/m with the findings taken for all the tests there were, 1 − α."""
    draw = partial(normal_run, size=1.0, correlated=False)
    assert false_coverage_rate(missed_shares(draw, RUNS, lambda n_found: 0.95)) > 1.5 * ALPHA
    forgotten = missed_shares(draw, RUNS, lambda n_found: selected_confidence("bh", ALPHA, n_found, n_found))
    assert false_coverage_rate(forgotten) > 2.0 * ALPHA
