"""Weighted step-up with a shape: against the definition, its promise under the worst dependence, and intervals."""

import math

import numpy as np
import pytest
from dependent_nulls import on_a_line
from long_runs import times

from datamodels_inf import adjust_pvalues
from datamodels_inf.multiplicity import selected_confidence
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape

ALPHA, M = 0.2, 30


def shape_of(m, share=0.2):
    """Most of ν on two numbers."""
    return Shape(m, np.array([max(1, m // 6), max(2, m // 3)]), (1 - share) * np.array([0.5, 0.5]), share)


def weights(rng, m):
    weight = rng.exponential(size=m) * (rng.random(m) < 0.8)
    return weight * m / weight.sum() if weight.any() else np.ones(m)


def naive(p, prior, alpha):
    """The largest R for which R tests have p ≤ α·w·β(R)/m."""
    m = prior.shape.m
    for number in range(len(p), 0, -1):
        found = p <= alpha * prior.weight * float(prior.shape.beta(number)) / m
        found &= prior.weight > 0
        if found.sum() >= number:
            return found
    return np.zeros(len(p), bool)


@pytest.mark.parametrize("share", (0.0, 0.2, 1.0))
@pytest.mark.parametrize("power", (1, 4, 12))
def test_findings_are_those_of_the_definition(share, power):
    rng = np.random.default_rng(0)
    for _ in range(60):
        m = int(rng.integers(2, 40))
        p, prior = rng.random(m) ** power, Prior(weights(rng, m), shape_of(m, share))
        p[rng.random(m) < 0.1] = rng.choice([0.0, 1.0])
        adjusted = adjust_pvalues(p, "prior", prior=prior)
        for alpha in (0.01, ALPHA, 0.7):
            np.testing.assert_array_equal(adjusted <= alpha, naive(p, prior, alpha))


def test_equal_weights_and_its_shape_give_benjamini_yekutieli():
    p = np.random.default_rng(1).random(200) ** 5
    prior = Prior(np.ones(200), Shape.benjamini_yekutieli(200))
    np.testing.assert_allclose(adjust_pvalues(p, "prior", prior=prior), adjust_pvalues(p, "by"), rtol=1e-12)


def test_a_shape_without_small_numbers_finds_many_or_none():
    """β(1) = β(2) = 0: a small p-value is found only among enough others, one that is 0 always."""
    prior = Prior(np.ones(4), Shape(4, np.array([3]), np.array([1.0]), 0.0))
    assert adjust_pvalues([1e-9, 1e-9, 0.9, 0.9], "prior", prior=prior).tolist() == [1.0] * 4
    assert adjust_pvalues([1e-9, 1e-9, 0.03, 1.0], "prior", prior=prior)[:3] == pytest.approx([0.04] * 3)
    assert adjust_pvalues([0.0, 0.9, 0.9, 1.0], "prior", prior=prior).tolist() == [0.0, 1.0, 1.0, 1.0]


def test_no_weight_is_never_found():
    prior = Prior(np.array([0.0, 2.0]), Shape.benjamini_yekutieli(2))
    assert adjust_pvalues([0.0, 0.001], "prior", prior=prior).tolist() == [1.0, 0.0015]


def test_tests_that_were_not_made_have_no_weight_in_the_family():
    prior = Prior(np.array([0.5, 9.0, 1.5]), Shape.benjamini_yekutieli(2))
    alone = Prior(np.array([0.5, 1.5]), Shape.benjamini_yekutieli(2))
    some, rest = adjust_pvalues([0.01, math.nan, 0.2], "prior", prior=prior), [0.01, 0.2]
    np.testing.assert_array_equal(some, np.insert(adjust_pvalues(rest, "prior", prior=alone), 1, math.nan))
    more = Prior(prior.weight, Shape.benjamini_yekutieli(5))
    missing = adjust_pvalues([0.01, 0.2, 1, 1, 1], "prior", prior=Prior(np.array([0.5, 1.5, 1, 1, 1]), more.shape))
    with_size = adjust_pvalues([0.01, math.nan, 0.2], "prior", prior=more, n_hypotheses=5)
    np.testing.assert_allclose(with_size[[0, 2]], missing[:2])


@pytest.mark.parametrize(
    ("weight", "shape", "words"),
    [
        ([1.0], 2, "holds 1 weights, but there are 2"),
        ([1.0, 1.0], 3, "`shape` is for 3 tests, but the family has 2"),
        ([1.0, 1.01], 2, "add up to 2, but they add up to 2.01"),
        ([1.0, math.nan], 2, "finite numbers of at least 0"),
        ([3.0, -1.0], 2, "finite numbers of at least 0"),
        ([[1.0, 1.0]], 2, "a vector"),
    ],
)
def test_what_is_no_prior_of_these_tests_is_refused(weight, shape, words):
    with pytest.raises(ValueError, match=words):
        adjust_pvalues([0.1, 0.2], "prior", prior=Prior(np.array(weight), Shape.benjamini_yekutieli(shape)))


def test_a_prior_is_for_its_correction_only():
    with pytest.raises(ValueError, match="must be given for the correction 'prior'"):
        adjust_pvalues([0.1], "prior")
    with pytest.raises(ValueError, match="is not for the correction 'by'"):
        adjust_pvalues([0.1], "by", prior=Prior(np.ones(1), Shape.benjamini_yekutieli(1)))


WEIGHT = np.repeat([0.4, 1.6], M // 2)
SHAPE = Shape(M, np.array([1, 5, 12]), np.array([0.3, 0.4, 0.3]), 0.0)
LINE = ALPHA * SHAPE.beta(np.arange(1, 13)) / M


def draw(rng):
    """True hypotheses: the worst law for WEIGHT and SHAPE."""
    return on_a_line(rng, LINE, M, WEIGHT)


def rate(weight_of, repetitions, law):
    """(share of repetitions with a finding, its standard error); all hypotheses are true."""
    rng = np.random.default_rng(2)
    some = np.zeros(repetitions)
    for r in range(repetitions):
        p = law(rng)
        some[r] = (adjust_pvalues(p, "prior", prior=Prior(weight_of(p), SHAPE)) <= ALPHA).any()
    return some.mean(), some.std() / math.sqrt(repetitions)


def test_the_law_has_uniform_pvalues():
    rng = np.random.default_rng(3)
    p = np.stack([draw(rng) for _ in range(4000)])
    for limit in (0.01, 0.05, 0.3):
        assert np.abs((p <= limit).mean(axis=0) - limit).max() < 5 * math.sqrt(limit / 4000)


def test_the_false_discovery_rate_is_kept_and_can_be_reached():
    found, error = rate(lambda p: WEIGHT, times(4000, 100_000), draw)
    assert abs(found - ALPHA) < 3.5 * error < 0.05


def test_weights_from_the_tested_pvalues_do_not_keep_it():
    found, error = rate(lambda p: M * (p == p.min()), 500, lambda rng: rng.random(M))
    assert found > ALPHA + 10 * error


@pytest.mark.parametrize("larger", (1, 2))
def test_intervals_of_weighted_findings_keep_the_false_coverage_rate_whatever_picks_them(larger):
    """An interval misses at level 1 − x where u ≤ x, u uniform. Picked is a set of which all intervals miss."""
    rng = np.random.default_rng(4)
    levels = [selected_confidence("prior", ALPHA, M, number, shape=SHAPE) for number in range(1, M + 1)]
    left_out = 1 - np.stack([Prior(WEIGHT, SHAPE).confidence(level) for level in levels])
    repetitions = times(4000, 100_000)
    missed, too_short = np.zeros((2, repetitions))
    for r in range(repetitions):
        u = on_a_line(rng, larger * LINE, M, WEIGHT)
        missed[r] = ((u <= left_out).sum(axis=1) >= np.arange(1, M + 1)).any()
        too_short[r] = ((u <= larger * left_out).sum(axis=1) >= np.arange(1, M + 1)).any()
    error = 3.5 * missed.std() / math.sqrt(repetitions)
    assert missed.mean() <= ALPHA + error
    assert abs(too_short.mean() - larger * ALPHA) < 2 * error < ALPHA


def test_a_finding_that_just_passed_has_an_interval_that_ends_at_zero():
    rng = np.random.default_rng(5)
    p, prior = rng.random(300) ** 6, Prior(weights(rng, 300), shape_of(300))
    found = adjust_pvalues(p, "prior", prior=prior) <= ALPHA
    left_out = 1 - prior.confidence(selected_confidence("prior", ALPHA, 300, int(found.sum()), shape=prior.shape))
    assert 0 < found.sum() < 300
    np.testing.assert_array_equal(p <= left_out, found)
    assert Prior(np.array([0.0, 30.0]), prior.shape).confidence(0.9).tolist() == [1.0, 0.0]
