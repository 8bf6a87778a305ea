"""What theory says must not change, or must change in one way, on data that hypothesis makes up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodels_inf import (
    AbsoluteResidual,
    SignedMargin,
    SquaredResidual,
    adjust_pvalues,
    contrast,
    paired_swap_test,
    swap_test,
)

RUNS = settings(max_examples=60, deadline=None, derandomize=True)
SCORES = (SquaredResidual, AbsoluteResidual, SignedMargin)
TESTS = [
    (swap_test, {"pvalue": "hoeffding"}),
    (swap_test, {"pvalue": "exact", "tau": 0.05}),
    (paired_swap_test, {"pvalue": "exact"}),
    (paired_swap_test, {"pvalue": "exact", "tau": 0.05}),
    (paired_swap_test, {"pvalue": "hoeffding"}),
    (paired_swap_test, {"pvalue": "signed-rank"}),
]
every_test = pytest.mark.parametrize(("test", "options"), TESTS)
every_score = pytest.mark.parametrize("score", SCORES)


@st.composite
def samples(draw):
    """(x, y, θ): masks or small integers, responses and weights in quarters, so that ties are common."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 60)), draw(st.integers(2, 8))
    x = rng.integers(0, 2, (n, d)).astype(bool) if draw(st.booleans()) else rng.integers(-3, 4, (n, d))
    return x, rng.integers(-8, 9, n) / 4, rng.integers(-4, 5, d) / 4


@every_test
@every_score
@RUNS
@given(samples())
def test_swapping_i_and_j_is_the_same_swap(test, options, score, sample):
    x, y, theta = sample
    assert test(x, y, 0, 1, score=score(theta), **options) == test(x, y, 1, 0, score=score(theta), **options)


@every_test
@every_score
@RUNS
@given(samples(), st.randoms(use_true_random=False))
def test_permuting_the_other_columns_with_theta_changes_nothing(test, options, score, sample, random):
    x, y, theta = sample
    order = [0, 1, *random.sample(range(2, len(theta)), len(theta) - 2)]
    moved = test(x[:, order], y, 0, 1, score=score(theta[order]), **options)
    assert moved == test(x, y, 0, 1, score=score(theta), **options)


@every_test
@pytest.mark.parametrize("score", (SquaredResidual, AbsoluteResidual))
@RUNS
@given(samples(), st.integers(-8, 8), st.booleans())
def test_scaling_y_and_theta_together_changes_nothing(test, options, score, sample, exponent, negative):
    x, y, theta = sample
    c = 2.0**exponent * (-1 if negative else 1)
    scaled = test(x, c * y, 0, 1, score=score(c * theta, c * 0.5), **options)
    assert scaled == test(x, y, 0, 1, score=score(theta, 0.5), **options)


@every_test
@RUNS
@given(samples())
def test_negating_a_margin_mirrors_the_statistic(test, options, sample):
    """T → −T exchanges wins and losses; the two-sided p-value stays, coins apart."""
    x, y, theta = sample
    a, b = (test(x, y, 0, 1, score=SignedMargin(s * theta), **options) for s in (1, -1))
    assert a.n_ties == b.n_ties
    if a.n_ties == 0:
        assert b.statistic == pytest.approx(1 - a.statistic)
        assert b.pvalue == pytest.approx(a.pvalue)


@every_test
@RUNS
@given(samples())
def test_squared_and_absolute_residuals_order_alike(test, options, sample):
    if options["pvalue"] == "signed-rank":
        return  # It also uses the size of the differences.
    x, y, theta = sample
    a, b = (test(x, y, 0, 1, score=s(theta), **options) for s in (SquaredResidual, AbsoluteResidual))
    assert a == b


@RUNS
@given(samples(), st.floats(0.01, 0.4), st.floats(0.0, 0.4))
def test_pvalues_grow_with_tau_and_shrink_from_hoeffding_to_exact(sample, tau, more):
    x, y, theta = sample
    for test in (swap_test, paired_swap_test):
        p = {
            (method, t): test(x, y, 0, 1, score=SquaredResidual(theta), tau=t, pvalue=method).pvalue
            for method in ("hoeffding", "exact")
            for t in (tau, tau + more)
        }
        for method in ("hoeffding", "exact"):
            assert p[method, tau] <= p[method, tau + more] + 1e-12
        assert all(0 <= value <= 1 for value in p.values())
    assert swap_test(x, y, 0, 1, score=SquaredResidual(theta), tau=tau, pvalue="exact").pvalue <= (
        swap_test(x, y, 0, 1, score=SquaredResidual(theta), tau=tau).pvalue + 1e-12
    )


@RUNS
@given(samples(), st.floats(0.001, 0.999))
def test_the_decision_is_the_papers_rule(sample, alpha):
    x, y, theta = sample
    result = swap_test(x, y, 0, 1, score=SquaredResidual(theta), tau=0.01, tau_x=0.02)
    rule = abs(result.statistic - 0.5) >= 0.03 + np.sqrt(np.log(2 / alpha) / result.n)
    assert result.reject(alpha) == rule == (result.pvalue <= alpha)


@RUNS
@given(samples(), st.integers(-4, 4))
def test_contrast_is_equivariant(sample, exponent):
    x, y, theta = sample
    x = x > 0
    c = 2.0**exponent
    a, b = contrast(x, y, 0, 1, theta=theta), contrast(x, c * y, 0, 1, theta=c * theta)
    np.testing.assert_allclose([b.estimate, *b.interval], c * np.array([a.estimate, *a.interval]))
    assert a.pvalue == b.pvalue


@RUNS
@given(
    st.lists(st.floats(0, 1) | st.just(float("nan")), min_size=1, max_size=30),
    st.sampled_from(["by", "bh", "holm", "bonferroni"]),
)
def test_adjusted_pvalues_keep_the_order_and_never_shrink(p, method):
    p = np.array(p)
    adjusted = adjust_pvalues(p, method)
    np.testing.assert_array_equal(np.isnan(p), np.isnan(adjusted))
    known = ~np.isnan(p)
    assert (adjusted[known] >= p[known] * (1 - 1e-12)).all()
    order = np.argsort(p[known])
    assert (np.diff(adjusted[known][order]) >= -1e-12).all()
