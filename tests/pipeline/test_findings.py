"""What a finding is: decided, ordered and given its interval."""

import math

import numpy as np
import pytest
from scipy.stats import t

from datamodels_inf.multiplicity import selected_confidence
from pipeline.config import Test
from pipeline.findings import Family, coverage, error_rate, finding_level, finding_order, level_text, one_of


def test_being_found_makes_no_interval_shorter():
    assert finding_level("by", 0.2, 2000, 39) == selected_confidence("by", 0.2, 2000, 39) > 0.95
    assert selected_confidence("bh", 0.2, 10, 9) == pytest.approx(0.82)
    assert finding_level("bh", 0.2, 10, 9) == finding_level("by", 0.2, 1, 1) == 0.95
    assert math.isnan(finding_level("by", 0.2, 2000, 0))
    assert math.isnan(finding_level("by", 0.2, 0, 0))


def test_levels_and_counts_as_text():
    levels = (0.95, 0.99, 0.9933, 0.9999, 0.9999137, 1.0)
    assert [level_text(v) for v in levels] == ["95 %", "99 %", "99.3 %", "99.99 %", "99.991 %", "100 %"]
    assert (one_of(1), one_of(39)) == ("the only finding", "one of 39 findings")


def family_of(*pvalue, **settings):
    return Family(np.array(pvalue), Test(**settings))


def test_a_finding_is_a_test_whose_adjusted_pvalue_is_at_most_alpha():
    family = family_of(0.01, 0.02, 0.9, 0.2, correction="bonferroni", alpha=0.08)
    assert family.adjusted.tolist() == pytest.approx([0.04, 0.08, 1.0, 0.8])
    assert family.found.tolist() == [True, True, False, False]  # 0.08 is alpha itself.
    assert (family.n_found, family.level) == (2, 1 - 0.08 / 4)


def test_tests_that_were_not_made_are_in_no_family():
    """They are no findings, and make nothing harder for the others."""
    made, nan = (0.01, 0.04, 0.5), math.nan
    alone, among = family_of(*made, correction="bh"), family_of(nan, *made, nan, correction="bh")
    np.testing.assert_array_equal(among.adjusted, [nan, *alone.adjusted, nan])
    assert among.found.tolist() == [False, *alone.found.tolist(), False]
    assert among.level == alone.level
    nothing = family_of(nan, nan)
    assert nothing.n_found == 0
    assert math.isnan(nothing.level)


def test_the_intervals_of_findings_are_student_intervals_at_the_level_of_the_family():
    family = family_of(1e-6, 0.0005, *([0.5] * 98), correction="by")
    effect, error, freedom = np.array([0.3, -0.2]), np.array([0.05, 0.04]), np.array([12.0, 300.0])
    low, high = family.selected_intervals(effect, error, freedom)
    left_out = 0.2 * 2 / (100 * sum(1 / k for k in range(1, 101)))
    assert family.level == pytest.approx(1 - left_out)
    half = t.isf(left_out / 2, freedom) * error
    np.testing.assert_allclose(low, effect - half)
    np.testing.assert_allclose(high, effect + half)


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


def test_promises_of_findings_and_of_their_intervals():
    assert error_rate(Test()) == "at a false discovery rate of 0.2 (Benjamini–Yekutieli)"
    assert error_rate(Test(correction="holm", alpha=0.05)).startswith("at a family-wise error of 0.05 (Holm")
    assert coverage(Test(), "effect") == (
        "the expected share of findings whose interval misses the effect is at most 0.2, however the tests depend on "
        "each other"
    )
    assert coverage(Test(correction="bonferroni"), "influence").startswith(
        "the chance that any interval misses the influence is at most 0.2, "
    )
