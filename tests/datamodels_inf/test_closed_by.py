"""Closed Benjamini–Yekutieli: against all subsets, never below the open one, and its promise under hard dependence."""

import math

import numpy as np
import pytest
from dependent_nulls import on_a_line
from long_runs import times
from scipy.stats import norm

import datamodels_inf.closed_by as closed
from datamodels_inf import adjust_pvalues
from datamodels_inf.closed_by import LEVELS, closed_by_limit
from datamodels_inf.shape import harmonic

ALPHA = 0.2
LAWS = {
    "uniform": lambda rng, m: rng.random(m),
    "some": lambda rng, m: np.where(rng.random(m) < 0.3, rng.random(m) ** 20, rng.random(m)),
    "most": lambda rng, m: rng.random(m) ** 6,
    "ties": lambda rng, m: np.round(rng.random(m) ** 4, 1),
    "few values": lambda rng, m: rng.choice([0.0, 0.01, 0.02, 0.05, 0.2, 1.0], m),
    "near the line": lambda rng, m: ALPHA * rng.integers(1, m + 1, m) / m * rng.choice([0.3, 0.5, 0.7, 1.0]),
}


def over_all_sets(p, m, alpha):
    """The largest k for which the k smallest p-values, all or none of equal ones, are allowed: the definition."""
    p = np.sort(np.concatenate([p, np.ones(m - len(p))]))
    sets = (np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1
    sizes = sets.sum(axis=1)
    sums = np.empty(len(sets))
    for a in range(1, m + 1):
        x = a * sum(1 / r for r in range(1, a + 1)) * p / alpha
        c = np.array([max(1, math.ceil(round(v, 9))) for v in x.tolist()])
        sums[sizes == a] = sets[sizes == a] @ np.where(c <= a, 1 / c, 0.0)
    ends = [k for k in range(1, m + 1) if k == m or p[k] > p[k - 1]]
    return max((k for k in ends if (sums >= sets[:, :k].sum(axis=1) / k - 1e-9).all()), default=0)


def count(p, m, alpha):
    return int(np.count_nonzero(p <= closed_by_limit(np.sort(p), m, alpha)))


def by_count(p, m, alpha):
    return int(np.count_nonzero(adjust_pvalues(p, "by", n_hypotheses=m) <= alpha))


@pytest.fixture
def bound_only(monkeypatch):
    """No family is searched exactly."""
    monkeypatch.setattr(closed, "EXACT_FAMILY", 0)


@pytest.mark.parametrize("law", LAWS)
def test_equal_to_trying_all_sets(law):
    rng = np.random.default_rng(0)
    more = 0
    for _ in range(times(60, 2000)):
        m = int(rng.integers(1, 11))
        p, alpha = LAWS[law](rng, int(rng.integers(1, m + 1))), float(rng.choice([0.05, ALPHA, 0.5, 0.9]))
        expected = over_all_sets(p, m, alpha)
        assert count(p, m, alpha) == expected >= by_count(p, m, alpha)
        more += expected > by_count(p, m, alpha)
    assert more > 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("m", (40, 700))
def test_never_below_by_and_the_bound_never_above(law, m, monkeypatch):
    rng = np.random.default_rng(1)
    for alpha in (0.01, ALPHA, 0.6):
        for _ in range(5):
            p = LAWS[law](rng, m)
            exact = count(p, m, alpha)
            assert exact >= by_count(p, m, alpha)
            with monkeypatch.context() as patch:
                patch.setattr(closed, "EXACT_FAMILY", 0)
                assert count(p, m, alpha) <= exact


def mixture(rng, m, null=0.8):
    """Two-sided p-values of normal statistics, of variance 1 or, for the others, 10."""
    return 2 * norm.sf(abs(rng.standard_normal(m)) * np.where(rng.random(m) < null, 1, math.sqrt(10)))


@pytest.mark.parametrize("null", (0.0, 0.5, 0.8, 0.99))
def test_the_bound_is_near(null, monkeypatch):
    rng = np.random.default_rng(2)
    p = mixture(rng, 9000, null)
    exact, by = count(p, 9000, ALPHA), by_count(p, 9000, ALPHA)
    monkeypatch.setattr(closed, "EXACT_FAMILY", 0)
    assert 0.995 * exact <= count(p, 9000, ALPHA) <= exact
    assert exact > 1.05 * by or null > 0.5


def test_the_bound_holds_where_sizes_come_in_long_ranges(monkeypatch):
    monkeypatch.setattr(closed, "SINGLE_SIZES", 4)
    rng = np.random.default_rng(3)
    for m in (3, 10, 300):
        p = mixture(rng, m, 0.5)
        exact = count(p, m, ALPHA)
        with monkeypatch.context() as patch:
            patch.setattr(closed, "EXACT_FAMILY", 0)
            low, high = closed._sizes(m)
            covered = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
            np.testing.assert_array_equal(covered, np.arange(1, m + 1))
            assert count(p, m, ALPHA) <= exact


@pytest.mark.parametrize("law", LAWS)
def test_larger_levels_and_smaller_pvalues_find_no_less(law):
    rng = np.random.default_rng(4)
    for m in (6, 50):
        for _ in range(10):
            p = LAWS[law](rng, m)
            numbers = [count(p, m, alpha) for alpha in (0.01, 0.05, 0.1, 0.2, 0.4, 0.8)]
            assert numbers == sorted(numbers)
            smaller = p * np.where(rng.random(m) < 0.5, rng.random(m), 1.0)
            assert count(smaller, m, ALPHA) >= count(p, m, ALPHA)


@pytest.mark.parametrize("alpha", (0.0173, 0.2, 0.85))
@pytest.mark.parametrize("law", LAWS)
def test_adjusted_pvalues_are_levels_at_which_a_test_is_found(law, alpha):
    rng = np.random.default_rng(5)
    p = LAWS[law](rng, 120)
    adjusted, by = adjust_pvalues(p, "closed-by", alpha=alpha), adjust_pvalues(p, "by")
    np.testing.assert_array_equal(adjusted <= alpha, p <= closed_by_limit(np.sort(p), 120, alpha))
    assert (adjusted <= by).all()
    assert np.isin(adjusted[adjusted < by], [*LEVELS, alpha]).all()
    for level in (0.01, 0.05, 0.2, 0.5):  # In LEVELS, so exact without being asked for.
        np.testing.assert_array_equal(adjusted <= level, p <= closed_by_limit(np.sort(p), 120, level))
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_adjusted_pvalues_of_a_family_that_is_not_searched_exactly(bound_only):
    rng = np.random.default_rng(6)
    p = mixture(rng, 5000, 0.3)
    adjusted = adjust_pvalues(p, "closed-by", alpha=0.123)
    found = p <= closed_by_limit(np.sort(p), 5000, 0.123)
    np.testing.assert_array_equal(adjusted <= 0.123, found)
    assert found.sum() > by_count(p, 5000, 0.123)


def test_missing_tests_count_as_one():
    p = mixture(np.random.default_rng(7), 60, 0.3)
    whole = adjust_pvalues([*p, *np.ones(40)], "closed-by")
    np.testing.assert_allclose(adjust_pvalues(p, "closed-by", n_hypotheses=100), whole[:60], rtol=1e-12)
    assert count(p, 60, ALPHA) > count(p, 100, ALPHA) > 0


M, TRUE = 40, 25
BY_LINE = ALPHA * np.arange(1, M + 1) / (M * harmonic(M))
BH_LINE = ALPHA * np.arange(1, M + 1) / M


def with_findings(rng, k):
    """TRUE true hypotheses on the line of as many, k others that are sure to be found, and the rest almost so."""
    true = on_a_line(rng, ALPHA * np.arange(1, TRUE + 1) / (TRUE * harmonic(TRUE)), TRUE)
    return np.concatenate([true, np.zeros(k), rng.random(M - TRUE - k) * 0.01])


NULLS = {
    "worst for by": (M, lambda rng: on_a_line(rng, BY_LINE, M)),
    "worst for bh": (M, lambda rng: on_a_line(rng, BH_LINE, M)),
    "all equal": (M, lambda rng: np.full(M, rng.random())),
    "blocks": (M, lambda rng: np.repeat(rng.random(M // 5), 5)),
    "few findings": (TRUE, lambda rng: with_findings(rng, 3)),
    "many findings": (TRUE, lambda rng: with_findings(rng, M - TRUE)),
}


def false_discovery_rate(law, repetitions):
    """(mean share of true hypotheses among the findings, its standard error)."""
    true, draw = NULLS[law]
    rng = np.random.default_rng(8)
    shares = np.zeros(repetitions)
    for r in range(repetitions):
        p = draw(rng)
        found = p <= closed_by_limit(np.sort(p), M, ALPHA)
        shares[r] = np.count_nonzero(found[:true]) / max(1, np.count_nonzero(found))
    return shares.mean(), shares.std() / math.sqrt(repetitions)


@pytest.mark.parametrize("law", NULLS)
def test_the_false_discovery_rate_is_kept(law):
    rate, error = false_discovery_rate(law, times(3000, 100_000))
    assert rate <= ALPHA + 3.5 * error


def test_the_worst_law_of_by_takes_all_that_is_allowed():
    """So that anything larger would be seen."""
    rate, error = false_discovery_rate("worst for by", times(3000, 100_000))
    assert rate >= ALPHA - 3.5 * error > 0.15


def test_without_the_harmonic_factor_the_rate_is_not_kept(monkeypatch):
    monkeypatch.setattr(closed, "digamma", lambda n: np.full(np.shape(n), 1 - np.euler_gamma))  # H_a = 1
    rate, error = false_discovery_rate("worst for bh", 1000)
    assert rate > ALPHA + 10 * error
