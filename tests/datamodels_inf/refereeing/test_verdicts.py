"""Confirmed, reversed, unproven: each method's claims are one family."""

import numpy as np
import pytest

from datamodels_inf.contrast import contrast_many
from datamodels_inf.multiplicity import adjust_pvalues
from datamodels_inf.refereeing.verdicts import WITHOUT_PRIOR, directions, rule


@pytest.mark.parametrize("correction", WITHOUT_PRIOR)
def test_the_family_is_the_claims_alone(correction):
    rng = np.random.default_rng(2)
    p, claim, direction = rng.random(200) ** 4, rng.integers(-1, 2, 200), rng.choice([-1, 1], 200)
    ruling = rule(claim, p, direction, alpha=0.1, correction=correction)
    own = np.flatnonzero(claim)
    adjusted = adjust_pvalues(p[own], correction, alpha=0.1)
    np.testing.assert_array_equal(ruling.adjusted[own], adjusted)
    assert np.isnan(ruling.adjusted[claim == 0]).all()
    expected = np.zeros(200)
    expected[own] = np.where(adjusted <= 0.1, claim[own] * direction[own], 0)
    np.testing.assert_array_equal(ruling.verdict, expected)
    counts = ruling.counts()
    assert sum(counts.values()) == own.size
    assert counts["confirmed"] > 0 < counts["reversed"]
    assert ruling.found.sum() == counts["confirmed"] + counts["reversed"]


def test_a_claim_that_was_not_tested_is_neither_proven_nor_unproven():
    ruling = rule(np.array([1, 1]), np.array([np.nan, 1e-9]), np.array([0, 1]))
    assert ruling.counts() == {"confirmed": 1, "unproven": 0, "reversed": 0, "untested": 1}


def test_what_is_found_without_a_direction_is_unproven():
    assert rule(np.array([1]), np.array([1e-12]), np.array([0])).verdict.tolist() == [0]


def test_a_prior_is_refused():
    with pytest.raises(ValueError, match="`correction` must be one of by, bh"):
        rule(np.array([1]), np.array([0.5]), np.array([1]), correction="prior")


def test_no_claim_at_all():
    counts = rule(np.zeros(3, np.int8), np.full(3, 1e-9), np.ones(3, np.int8)).counts()
    assert set(counts.values()) == {0}


@pytest.mark.parametrize("higher_is_better", (True, False))
def test_directions_are_those_of_help(higher_is_better):
    rng = np.random.default_rng(3)
    x = rng.random((900, 6)) < 0.5
    y = x @ np.array([2.0, 1.0, 0.0, 0.0, 0.0, -1.0]) + 0.1 * rng.standard_normal(900)
    found = contrast_many(x, y, [[0, 1], [1, 0], [5, 2]], theta=np.zeros(6))
    expected = np.array([1, -1, -1])
    np.testing.assert_array_equal(directions(found, higher_is_better), expected if higher_is_better else -expected)


def test_there_is_no_direction_where_mean_and_ranks_disagree():
    """One model far out turns the mean, and not the ranks."""
    x = np.array([[1, 0], [0, 1]] * 20, bool)
    y = np.tile([1.0, 0.0], 20)
    y[0] = -100.0
    found = contrast_many(x, y, [[0, 1]], theta=np.zeros(2))
    assert found.estimate[0] < 0 < found.rank_sum[0]
    assert directions(found).tolist() == [0]
