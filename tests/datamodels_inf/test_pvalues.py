"""p-values of counts, by enumeration of every outcome."""

import numpy as np
import pytest
from naive import binomial_pmf, naive_exact_pvalue

from datamodels_inf.pvalues import binomial_pvalue, binomial_upper_tail, hoeffding_pvalue

SIZES = (1, 2, 3, 10, 25, 50, 101, 500)
SHIFTS = (0.0, 0.03, 0.2, 0.49, 0.5, 0.7)
ALPHAS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9)


@pytest.mark.parametrize("h", SIZES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_pvalue_and_decision_agree_for_every_outcome(h, shift):
    """reject(α) ⇔ p ≤ α is the paper's rule |U − ½| ≥ τ + τ_X + √(log(2/α)/n)."""
    k = np.arange(h + 1)
    p = hoeffding_pvalue(k / h, h, shift)
    for alpha in ALPHAS:
        rule = np.abs(k / h - 0.5) >= shift + np.sqrt(np.log(2 / alpha) / (2 * h))
        np.testing.assert_array_equal(p <= alpha, rule)


@pytest.mark.parametrize("h", SIZES)
@pytest.mark.parametrize("shift", SHIFTS)
def test_exact_is_never_larger_than_hoeffding(h, shift):
    k = np.arange(h + 1)
    assert (binomial_pvalue(k, h, shift) <= hoeffding_pvalue(k / h, h, shift) + 1e-15).all()


@pytest.mark.parametrize("h", SIZES[:-1])
@pytest.mark.parametrize("shift", (0.0, 0.03, 0.2, 0.5))
def test_exact_equals_the_sum_of_terms(h, shift):
    k = np.arange(h + 1)
    expected = [naive_exact_pvalue(b, h, shift) for b in k]
    np.testing.assert_allclose(binomial_pvalue(k, h, shift), expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("h", (1, 2, 3, 10, 25, 50, 101))
@pytest.mark.parametrize("shift", (0.0, 0.03, 0.2, 0.4))
def test_pvalues_are_superuniform_on_the_whole_null(h, shift):
    """P_π(p ≤ u) ≤ u at every attainable u, for every π with |π − ½| ≤ shift."""
    k = np.arange(h + 1)
    for p in (binomial_pvalue(k, h, shift), hoeffding_pvalue(k / h, h, shift)):
        for pi in np.linspace(0.5 - shift, 0.5 + shift, 9):
            pmf = np.array(binomial_pmf(h, pi))
            for u in np.unique(p):
                assert pmf[p <= u].sum() <= u * (1 + 1e-9)


@pytest.mark.parametrize(("h", "shift"), [(1, 0.2), (12, 0.03), (25, 0.1), (60, 0.05)])
def test_trials_that_steer_keep_every_level_but_by_two_tails_of_one_law(h, shift):
    """Against all who choose each trial's chance, ½ ± shift, by those before: the best there is for each level."""
    k = np.arange(h + 1)
    own, one_law = binomial_pvalue(k, h, shift, steered=True), binomial_pvalue(k, h, shift)
    assert all(most_that_steering_gives(own <= u, shift) <= u * (1 + 1e-9) for u in np.unique(own))
    if h > 1:
        assert any(most_that_steering_gives(one_law <= u, shift) > u * (1 + 1e-3) for u in np.unique(one_law))


def most_that_steering_gives(rejects, shift):
    """P(K among `rejects`), by backward induction over the number of wins so far."""
    chance = rejects.astype(float)
    while chance.size > 1:
        win, lose = chance[1:], chance[:-1]
        chance = (win + lose) / 2 + shift * np.abs(win - lose)
    return chance[0]


def test_steering_changes_nothing_at_a_fair_chance():
    k = np.arange(51)
    np.testing.assert_array_equal(binomial_pvalue(k, 50, 0.0, steered=True), binomial_pvalue(k, 50, 0.0))


def test_exact_two_sided_level_is_attained():
    """Not only valid: at shift 0 the smallest p-values are met with equality, P(p ≤ u) = u."""
    k = np.arange(51)
    p, pmf = binomial_pvalue(k, 50, 0.0), np.array(binomial_pmf(50, 0.5))
    for u in np.unique(p):
        assert pmf[p <= u].sum() == pytest.approx(u)


def test_far_tail_is_accurate():
    from fractions import Fraction
    from math import comb

    exact = float(2 * sum(Fraction(comb(2000, k), 2**2000) for k in range(701)))
    assert binomial_pvalue(np.array([700, 1300]), 2000, 0.0) == pytest.approx([exact, exact], rel=1e-8)


def test_billions_of_trials():
    h = 5 * 10**9
    k = np.array([h // 2 - int(h**0.5), h // 2 + int(h**0.5)])
    np.testing.assert_allclose(binomial_pvalue(k, h, 0.0), 0.0455, atol=1e-4)  # Two standard deviations.


def test_upper_tail_at_the_edges():
    k, n = np.array([-1, 0, 1, 5, 6]), np.full(5, 5)
    np.testing.assert_allclose(binomial_upper_tail(k, n, 1.0), [1, 1, 1, 1, 0])
    np.testing.assert_allclose(binomial_upper_tail(k, n, 0.0), [1, 1, 0, 0, 0])


def test_a_published_number():
    """At n = 1000, α = 0.1, Hoeffding's rule really rejects about 1.3 % of true nulls."""
    k = np.arange(501)
    level = np.array(binomial_pmf(500, 0.5))[hoeffding_pvalue(k / 500, 500, 0.0) <= 0.1].sum()
    assert level == pytest.approx(0.0138, abs=0.0005)
