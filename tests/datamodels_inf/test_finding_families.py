"""What a finding is: decided, ordered and given its interval."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

from datamodels_inf.findings import Family, counts_by_correction, error_rate, finding_level, finding_order, one_of
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues, selected_confidence
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape


def rule(alpha=0.2, correction="by"):
    """The same as the defaults of `[test]`."""
    return SimpleNamespace(alpha=alpha, correction=correction)


def test_being_found_makes_no_interval_shorter():
    assert finding_level("by", 0.2, 2000, 39) == selected_confidence("by", 0.2, 2000, 39) > 0.95
    assert selected_confidence("bh", 0.2, 10, 9) == pytest.approx(0.82)
    assert finding_level("bh", 0.2, 10, 9) == finding_level("by", 0.2, 1, 1) == 0.95
    assert math.isnan(finding_level("by", 0.2, 2000, 0))
    assert math.isnan(finding_level("by", 0.2, 0, 0))
    shape = Shape(2000, np.array([39]), np.array([1.0]), 0.0)
    assert finding_level("prior", 0.2, 2000, 39, shape=shape) == pytest.approx(1 - 0.2 * 39 / 2000)


def test_counts_as_text():
    assert (one_of(1), one_of(39)) == ("the only finding", "one of 39 findings")


def family_of(*pvalue, **settings):
    return Family(np.array(pvalue), rule(**settings))


def test_a_finding_is_a_test_whose_adjusted_pvalue_is_at_most_alpha():
    family = family_of(0.01, 0.02, 0.9, 0.2, correction="bonferroni", alpha=0.08)
    assert family.adjusted.tolist() == pytest.approx([0.04, 0.08, 1.0, 0.8])
    assert family.found.tolist() == [True, True, False, False]  # 0.08 is alpha itself.
    assert (family.n_found, family.level_range) == (2, (1 - 0.08 / 4,) * 2)


def test_tests_that_were_not_made_are_in_no_family():
    """They are no findings, and make nothing harder for the others."""
    made, nan = (0.01, 0.04, 0.5), math.nan
    alone, among = family_of(*made, correction="bh"), family_of(nan, *made, nan, correction="bh")
    np.testing.assert_array_equal(among.adjusted, [nan, *alone.adjusted, nan])
    assert among.found.tolist() == [False, *alone.found.tolist(), False]
    assert among.level_range == alone.level_range
    nothing = family_of(nan, nan)
    assert nothing.n_found == 0
    assert all(map(math.isnan, nothing.level_range))


def test_the_intervals_of_findings_are_student_intervals_at_the_level_of_the_family():
    family = family_of(1e-6, 0.0005, *([0.5] * 98), correction="by")
    effect, error, freedom = np.array([0.3, -0.2]), np.array([0.05, 0.04]), np.array([12.0, 300.0])
    low, high = family.selected_intervals(np.array([0, 1]), effect, error, freedom)
    left_out = 0.2 * 2 / (100 * sum(1 / k for k in range(1, 101)))
    assert family.level_range == pytest.approx((1 - left_out,) * 2)
    half = t.isf(left_out / 2, freedom) * error
    np.testing.assert_allclose(low, effect - half)
    np.testing.assert_allclose(high, effect + half)


def weighted(m=300, n_untested=0):
    """(p-values, prior) of m tests that are made, and others that are not."""
    rng = np.random.default_rng(7)
    effect = rng.random(m) < 0.2
    p, weight = rng.random(m) * np.where(effect, 10 ** -rng.uniform(0, 5, m), 1.0), rng.choice([0.5, 2.0], m)
    shape = Shape(m, np.array([20, 60]), np.array([0.3, 0.2]), 0.5)
    nothing = np.zeros(n_untested)
    return np.append(p, nothing + np.nan), Prior(np.append(weight * m / weight.sum(), nothing), shape)


@pytest.mark.parametrize("n_untested", (0, 40))
def test_with_a_prior_findings_are_p_over_w_up_to_the_last_under_the_line(n_untested):
    p, prior = weighted(n_untested=n_untested)
    family = Family(p, rule(correction="prior"), prior)
    scaled = p[:300] / prior.weight[:300]
    r = max(r for r in range(301) if (scaled <= 0.2 * prior.shape.beta(r) / 300).sum() >= r)
    assert family.n_found == r > 5
    assert family.found[:300].tolist() == (scaled <= 0.2 * prior.shape.beta(r) / 300).tolist()
    assert not family.found[300:].any()
    left_out = prior.weight * 0.2 * prior.shape.beta(r) / 300
    np.testing.assert_allclose(family.levels, np.maximum(0.95, 1 - left_out))
    own = family.levels[family.found]
    assert family.level_range == (own.min(), own.max())
    assert own.min() < own.max()
    tests = np.flatnonzero(family.found)[[3, 1]]
    ones = np.ones(2)
    low, high = family.selected_intervals(tests, 0 * ones, ones, 50 * ones)
    np.testing.assert_allclose(high, t.isf((1 - family.levels[tests]) / 2, 50))
    np.testing.assert_allclose(low, -high)


def test_a_test_that_was_weighed_and_not_made_stays_in_the_family():
    p, prior = weighted()
    p[5] = np.nan
    family = Family(p, rule(correction="prior"), prior)
    as_one = Family(np.where(np.isnan(p), 1.0, p), rule(correction="prior"), prior)
    assert family.n_tests == 300
    np.testing.assert_array_equal(family.found, as_one.found)


def test_a_prior_that_is_missing_is_refused():
    with pytest.raises(ValueError, match="must be given for"):
        _ = family_of(0.1, 0.2, correction="prior").found


@pytest.mark.parametrize("alpha", (0.01, 0.2))
def test_how_many_findings_each_correction_has(alpha):
    p, prior = weighted(n_untested=30)
    counts = counts_by_correction(p, rule(alpha=alpha), prior)
    assert list(counts) == list(CORRECTIONS)
    for name, count in counts.items():
        own = prior if CORRECTIONS[name].needs_prior else None
        assert count == (adjust_pvalues(p, name, alpha=alpha, prior=own) <= alpha).sum()
    assert 0 < counts["by"] <= counts["closed-by"] <= counts["bh"]
    assert counts["by"] != counts["bh"] != counts["prior"] != counts["by"]
    assert counts_by_correction(p, rule(alpha=alpha), None) == {**counts, "prior": None}
    nothing = counts_by_correction(np.full(3, np.nan), rule(), None)
    assert nothing == {name: None if name == "prior" else 0 for name in CORRECTIONS}


def naive_key(row):
    """By p-value, then the larger effect, then target, i and j; NaN comes last."""
    p, effect, *numbers = row
    first = (True, 0.0) if math.isnan(p) else (False, p)
    second = (True, 0.0) if math.isnan(effect) else (False, -abs(effect))
    return *first, *second, *numbers


def test_the_order_of_findings_has_no_ties_and_puts_the_unknown_last():
    rng = np.random.default_rng(0)
    size = 400
    pvalue, effect = rng.choice([0.0, 1e-9, 0.5, math.nan], size), rng.choice([0.3, -0.3, 0.1, 0.0, math.nan], size)
    target, i, j = rng.integers(0, 3, (3, size))
    rows = list(zip(pvalue, effect, target, i, j, strict=True))
    expected = sorted(range(size), key=lambda k: naive_key(rows[k]))
    found = finding_order(pvalue, effect, target, i, j)
    assert [naive_key(rows[k]) for k in found] == [naive_key(rows[k]) for k in expected]
    assert found.tolist() == expected  # Rows that are equal in all stay as they came.
    assert finding_order(*np.zeros((2, 0)), *np.zeros((3, 0), np.int64)).tolist() == []


def test_an_effect_of_zero_comes_before_one_that_is_not_known():
    same = np.zeros(3)
    assert finding_order(same, np.array([math.nan, 0.0, -0.2]), *np.zeros((3, 3), np.int64)).tolist() == [2, 1, 0]


def test_promises_of_findings():
    assert error_rate(rule()) == "at a false discovery rate of 0.2 (Benjamini–Yekutieli)"
    assert error_rate(rule(), 1) == "at a false discovery rate of 0.2 (Benjamini–Yekutieli over 1 test)"
    assert error_rate(rule(), 2000).endswith("(Benjamini–Yekutieli over 2,000 tests)")
    assert error_rate(rule(correction="holm", alpha=0.05)).startswith("at a family-wise error of 0.05 (Holm")
