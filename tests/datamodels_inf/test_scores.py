"""Scores: their formulas, and that no rounding decides a tie."""

import numpy as np
import pytest
from swap_samples import data

from datamodels_inf import (
    AbsoluteResidual,
    SignedMargin,
    SquaredResidual,
    paired_swap_test,
    paired_swap_test_many,
    swap_test,
    swap_test_many,
)


@pytest.mark.parametrize("kind", ("gaussian", "bool"))
def test_scores_are_their_formulas(kind):
    """Against the formulas written out, with a bias and responses of both signs; plain callables agree."""
    x, y, theta = data(kind, 11, n=400)
    assert (y < 0).any()
    formulas = {
        SquaredResidual(theta, 0.7): lambda x, y: (y - 0.7 - x @ theta) ** 2,
        AbsoluteResidual(theta, 0.7): lambda x, y: np.abs(y - 0.7 - x @ theta),
        SignedMargin(theta): lambda x, y: y * (x @ theta),
    }
    for score, formula in formulas.items():
        np.testing.assert_allclose(score(x, y), formula(x, y), rtol=1e-9, atol=1e-12)
        for test in (swap_test, paired_swap_test):
            assert test(x, y, 3, 7, score=score) == test(x, y, 3, 7, score=formula)


@pytest.mark.parametrize("case", ("huge column without weight", "huge response", "columns of different units"))
def test_scales_do_not_turn_differences_into_ties(case):
    """The paths agree with a plain callable although rounding errors of one sample or column are huge."""
    rng = np.random.default_rng(0)
    x, theta = rng.standard_normal((500, 5)), np.array([1.0, 0.2, 0.5, -0.5, 0.0])
    if case == "huge column without weight":
        x[7, 4] = 1e14
    if case == "columns of different units":
        x[:, 2] *= 1e12
        theta[2] = 5e-13
    y = x @ theta + rng.standard_normal(500)
    if case == "huge response":
        y[3] = 1e14
    plain = paired_swap_test(x, y, 0, 1, score=lambda x, y: np.abs(y - x @ theta))
    fast = paired_swap_test(x, y, 0, 1, score=AbsoluteResidual(theta))
    many = paired_swap_test_many(x, y, [(0, 1)], score=AbsoluteResidual(theta))[0]
    assert fast == many
    assert abs(fast.statistic - plain.statistic) <= 1 / 500
    assert fast.n_ties <= 1


def test_sums_of_masks_do_not_depend_on_their_order():
    """θ sits on a grid on which sums over masks are exact: the reason why ties are ties on every path."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(3000) * 10.0 ** rng.integers(-6, 3, 3000)
    score = SquaredResidual(theta)
    x = rng.random((50, 3000)) < 0.5
    order = rng.permutation(3000)
    shuffled = SquaredResidual(theta[order])
    sums = score.prepared(x).predictor(x)
    np.testing.assert_array_equal(sums, shuffled.prepared(x).predictor(x[:, order]))
    assert (score.predictor(x) != shuffled.predictor(x[:, order])).any()  # Not so without the grid.
    assert np.abs(score.prepared(x).theta - theta).max() <= 2.0**-41 * np.abs(theta).sum()


def test_equal_weights_tie_exactly_even_for_real_features():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((300, 9)), rng.standard_normal(300)
    theta = rng.standard_normal(9)
    theta[4] = theta[2]
    result = paired_swap_test(x, y, 2, 4, score=SquaredResidual(theta))
    assert (result.n_ties, result.pvalue, result.statistic) == (300, 1.0, 0.5)


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: SquaredResidual([1.0, np.nan]), "`theta` must be finite"),
    (lambda: SquaredResidual([[1.0]]), "`theta` must be a vector"),
    (lambda: SignedMargin(["a"]), "`theta` must hold real numbers"),
    (lambda: SignedMargin([1j]), "`theta` must hold real numbers"),
    (lambda: AbsoluteResidual([1.0], "a"), "`bias` must be a number"),
    (lambda: AbsoluteResidual([1.0], np.inf), "`bias` must be a finite number"),
])  # fmt: skip
def test_bad_scores(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("run", (
    lambda x, y, s: swap_test(x, y, 0, 1, score=s, order="given").n_ties,
    lambda x, y, s: swap_test_many(x, y, [(0, 1)], score=s, order="given").n_ties[0],
))  # fmt: skip
def test_rounding_does_not_decide_ties(run):
    """Sample m + h is the swap of sample m, so every comparison is a tie, though some sums round differently.

    How they round depends on the order of the sum, and in BLAS on the layout of x: nothing that may decide a tie.
    """
    half = np.array(np.meshgrid(*[[0.3, 0.6, 0.7]] * 3)).reshape(3, -1).T
    x = np.concatenate([half, half[:, [1, 0, 2]]])
    score = SquaredResidual([2.4, 1.7, 2.9])
    assert run(x, np.zeros(54), score) == 27
    updated = score.predictor(x[27:]) + score.shift(x[27:], np.array([[0], [1]]))
    assert (updated != score.predictor(half)).any()
