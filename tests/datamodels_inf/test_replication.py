"""Findings held against a noisy truth: the share of false ones is not too low, intervals know that tests depend on each
other, and coverage knows that the truth is an estimate."""

import numpy as np
import pytest
from long_runs import times

from datamodels_inf.replication import (
    HeldAgainst,
    coverage,
    false_bound,
    false_share,
    replication,
    same_sign,
    settled,
    share_interval,
    split_error,
)

AGREED = np.ones((20, 2))
"""Halves that always say the same: the independent case's interval remains."""


def held(effect, error, fresh, fresh_error, q=1.96, selected=np.nan):
    n = len(effect)
    return HeldAgainst(
        effect, np.broadcast_to(error, n), q * np.broadcast_to(error, n), selected * np.broadcast_to(error, n), fresh,
        np.broadcast_to(fresh_error, n), np.full(n, 1e6),
    )  # fmt: skip


def found_by_chance(rng, m, null, size, least=1.96):
    """(Δ̂, Δ) of the findings among m tests of standard error 1, a share `null` of which has no effect."""
    truth = np.where(rng.random(m) < null, 0.0, size * rng.choice([-1.0, 1.0], m))
    effect = truth + rng.standard_normal(m)
    found = np.abs(effect) > least
    return effect[found], truth[found]


@pytest.mark.parametrize(("size", "noise"), ((6.0, 0.5), (6.0, 1.0), (1.0, 1.0), (0.3, 0.5)))
def test_the_share_of_false_findings_is_not_too_low_and_near_where_effects_are_strong(size, noise):
    """False: no effect, or the wrong sign. A variant that counts a disagreement once is caught by the same check."""
    rng, estimates, once, false = np.random.default_rng(0), [], [], []
    for _ in range(times(300, 3000)):
        effect, truth = found_by_chance(rng, 500, 0.7, size)
        fresh = truth + noise * rng.standard_normal(len(truth))
        disagree = round(len(effect) * (1.0 - same_sign(effect, fresh)))
        estimates.append(false_share(disagree, len(effect)))
        once.append(disagree / len(effect))
        false.append(np.mean(effect * truth <= 0.0))
    error = np.std(np.subtract(estimates, false)) / np.sqrt(len(false))
    assert np.mean(estimates) > np.mean(false) - 3.0 * error
    if size == 6.0:
        assert np.mean(estimates) == pytest.approx(np.mean(false), abs=3.0 * error + 1e-4)
        assert np.mean(once) < np.mean(false) - 3.0 * error


def by_rows(rng, n, tests, shared):
    """(n, tests) rows without any effect; `shared` of the variance is common to all tests."""
    common = rng.standard_normal((n, 1))
    return np.sqrt(shared) * common + np.sqrt(1.0 - shared) * rng.standard_normal((n, tests))


def halves_of(rng, claimed, rows, splits=20):
    n = len(rows)
    orders = (rng.permutation(n) for _ in range(splits))
    return np.array([[same_sign(claimed, rows[o[k::2]].mean(axis=0)) for k in (0, 1)] for o in orders])


@pytest.mark.parametrize("shared", (0.0, 0.3, 0.9))
def test_random_halves_know_how_signs_depend_on_each_other(shared):
    """Without effects V is the variance of the share, whatever tests have in common; the binomial law's is not."""
    rng, tests, shares, variances = np.random.default_rng(1), 100, [], []
    claimed = np.ones(tests)
    for _ in range(times(200, 2000)):
        rows = by_rows(rng, 64, tests, shared)
        shares.append(same_sign(claimed, rows.mean(axis=0)))
        variances.append(split_error(halves_of(rng, claimed, rows)) ** 2)
    assert np.mean(variances) == pytest.approx(np.var(shares), rel=0.3)
    assert (np.var(shares) > 3.0 * 0.25 / tests) == (shared > 0.0)


def test_a_jackknife_over_blocks_would_be_wrong_for_signs():
    """As the module says: of independent signs without effect, 0.9·√G times their variance."""
    rng, n, tests = np.random.default_rng(2), 400, 4000
    blocks = rng.standard_normal((20, n // 20, tests)).mean(axis=1)
    left_out = np.sign((blocks.sum(axis=0) - blocks) / 19)
    jackknife = 19 / 20 * ((left_out > 0) - (left_out > 0).mean(axis=0)) ** 2
    assert jackknife.sum(axis=0).mean() / 0.25 == pytest.approx(0.9 * np.sqrt(20), rel=0.1)


@pytest.mark.parametrize(("tests", "n_false", "shared"), ((5, 1, 0.0), (40, 40, 0.0), (200, 60, 0.5), (200, 200, 0.9)))
def test_the_bound_of_false_findings_holds(tests, n_false, shared):
    """In 95 % of all sets of fresh models, few findings and dependent ones included."""
    rng, held_up, plain = np.random.default_rng(3), [], []
    claimed, effect = np.ones(tests), np.where(np.arange(tests) < n_false, 0.0, 9.0)
    for _ in range(times(200, 2000)):
        rows = effect + by_rows(rng, 64, tests, shared)
        disagree = round(tests * (1.0 - same_sign(claimed, rows.mean(axis=0))))
        held_up.append(false_bound(disagree, tests, halves_of(rng, claimed, rows)) >= n_false / tests)
        plain.append(false_bound(disagree, tests, AGREED) >= n_false / tests)
    # Shares of signs that are all but one sign are not normal, and t·√V is short: see `false_bound`.
    promised = 0.95 if shared == 0.0 else 0.87
    assert np.mean(held_up) > promised - 3.0 * np.sqrt(promised * (1.0 - promised) / len(held_up))
    if shared:
        assert np.mean(plain) < 0.7  # The bound for independent signs alone.


def test_coverage_counts_the_error_of_the_truth():
    """95 % for calibrated intervals, however noisy the fresh effects; holding those for the truth gives less."""
    rng = np.random.default_rng(4)
    truth, error = rng.standard_normal(20_000), rng.uniform(0.5, 2.0, 20_000)
    effect = truth + error * rng.standard_normal(20_000)
    for noise in (0.1, 1.0, 3.0):
        fresh = truth + noise * rng.standard_normal(20_000)
        tests = held(effect, error, fresh, noise)
        assert coverage(tests, tests.half) == pytest.approx(0.95, abs=0.006)
    assert np.mean(np.abs(effect - fresh) <= tests.half) < 0.6
    short = held(effect, 0.8 * error, fresh, noise)
    assert coverage(short, 0.5 * short.half) < 0.75


def test_what_was_selected_is_covered_less_and_shrinks():
    rng = np.random.default_rng(5)
    effect, truth = found_by_chance(rng, 40_000, 0.5, 1.0, least=3.0)
    fresh = truth + 0.5 * rng.standard_normal(len(truth))
    made = replication(held(effect, 1.0, fresh, 0.5, selected=3.5), AGREED, count_false=True)
    assert made.slope < 0.5
    assert made.coverage < 0.7 < made.coverage_selected
    everything = rng.standard_normal(40_000) * 10
    again = everything + rng.standard_normal(40_000)
    assert replication(held(everything, 1.0, again, 1.0), AGREED, count_false=False).slope == pytest.approx(1, abs=0.01)


def test_directions_are_found_by_the_fresh_models_alone():
    """One-sided p-values 1e-6 and 0.02 pass Benjamini–Hochberg among four, 0.04 does not, nor does it reverse."""
    z = np.array([4.75, 2.054, 1.751, -3.09])
    tests = held(np.array([1.0, -1.0, 1.0, 1.0]), 1.0, np.array([1.0, -1.0, 1.0, 1.0]) * z, 1.0)
    assert settled(tests, 1.0) == 2
    assert settled(tests, -1.0) == 1
    assert settled(held(np.ones(4), 1.0, z, 1.0), -1.0) == 1


def test_intervals_of_few_tests_are_those_of_clopper_and_pearson():
    low, high = share_interval(5, 5, AGREED)
    assert (low, high) == (pytest.approx(0.025 ** (1 / 5)), 1.0)
    assert share_interval(0, 5, AGREED) == (0.0, pytest.approx(1.0 - 0.025 ** (1 / 5)))
    assert false_bound(0, 5, AGREED) == 4 / 5  # ½⁴ > 0.05 ≥ ½⁵
    assert false_bound(0, 3, AGREED) == 1.0
    wide = share_interval(50, 100, np.tile([0.3, 0.7], (20, 1)))
    assert wide == (0.0, 1.0)  # 0.5 ∓ 2.09·0.28
    assert share_interval(50, 100, np.tile([0.4, 0.6], (20, 1)))[0] == pytest.approx(
        0.5 - 2.086 * 0.1 * 2**0.5, abs=1e-3
    )


def test_nothing_known_agrees_with_nothing():
    assert same_sign(np.array([1.0, 0.0, 1.0, 2.0]), np.array([1.0, 1.0, np.nan, 0.0])) == 0.25
    tests = held(np.array([1.0, np.nan, 1.0]), 1.0, np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.0, np.inf]))
    assert tests.known.tolist() == [True, False, False]
    assert len(tests.take(tests.known).effect) == 1
    assert replication(tests.take(np.zeros(3, bool)), AGREED, count_false=True) is None
    other = replication(tests.take(tests.known), AGREED, count_false=False)
    assert (other.coverage_selected, other.false_share, other.false_bound) == (None, None, None)


@pytest.mark.parametrize("freedom", (7.0, 30.0, 300.0))
def test_calibrated_intervals_cover_95_percent_with_few_fresh_models_too(freedom):
    rng = np.random.default_rng(7)
    n = 20_000
    error = np.full(n, 0.4)
    fresh_error = np.sqrt(rng.chisquare(freedom, n) / freedom)
    effect, fresh = error * rng.normal(size=n), rng.normal(size=n)
    held = HeldAgainst(effect, error, 1.959964 * error, np.full(n, np.nan), fresh, fresh_error, np.full(n, freedom))
    assert coverage(held, held.half) == pytest.approx(0.95, abs=0.01)
