"""LASSO datamodels at the edge: constant targets and columns, types and scales of margins, bad input."""

import numpy as np
import pytest
from lasso_problems import check_fit, problem, same_choices
from naive_lasso import lambda_max

from datamodels_inf import PackedMasks
from datamodels_inf.lasso import descent
from datamodels_inf.lasso.prefixes import fit_lasso
from datamodels_inf.lasso.solver import Lasso, lasso_path

# --- targets and columns at the edge -------------------------------------------------------------------------------


def test_constant_targets_and_columns():
    masks, margins, _ = problem(3)
    masks[:, 4], masks[:, 5] = True, False
    margins[:, 1] = 7.0
    fitted = fit_lasso(masks, margins)
    assert (fitted.weight[:, 1] == 0).all()
    assert (fitted.bias[1], fitted.lam[1]) == (7.0, 0.0)
    assert (fitted.weight[[4, 5]] == 0).all()
    assert (fitted.weight[:, [0, 2]] != 0).any(axis=0).all()


@pytest.mark.parametrize("value", (0.0, 0.1, -1e9, np.float16(0.1)))
def test_a_path_of_a_constant_target(value):
    masks, margins, _ = problem(3)
    margins[:, 1] = value
    path = lasso_path(masks, margins, n_lambdas=4, validation_rows=50)
    assert (path.n_nonzero[:, 1] == 0).all()
    assert (path.gap[:, 1] == 0).all()
    np.testing.assert_allclose(path.mse[:, 1], 0.0, atol=1e-12)
    assert path.fits[1][0].bias == pytest.approx(float(value), rel=1e-14)
    lasso = Lasso(masks, validation_rows=50)
    choice = lasso.choose(margins)[1]
    assert (choice.mse.size, choice.best.lam, choice.best.features.size) == (1, 0.0, 0)


def test_a_target_that_is_constant_in_the_validation_rows_alone():
    masks, margins, _ = problem(3)
    margins[300:] = 2.5
    lasso = Lasso(masks, validation_rows=100, tolerance=1e-9)
    choices = lasso.choose(margins)
    for t, fit in enumerate(lasso.refit(margins, [choice.best for choice in choices])):
        check_fit(fit, masks, margins[:, t], 1e-9, split=300)


def test_a_target_that_is_constant_in_the_training_rows_alone(monkeypatch):
    """No λ can be chosen for it: it is fitted by its mean, after a number of steps that is not absurd."""
    steps, solve = [], descent.Descent._solve

    def counted(self, lam, *others):
        steps.append(lam)
        assert len(steps) < 500, f"still on the way at λ = {lam}"
        return solve(self, lam, *others)

    monkeypatch.setattr(descent.Descent, "_solve", counted)
    monkeypatch.setattr(descent, "MOST_SWEEPS", 20)
    masks, margins, _ = problem(3, 60, 10)
    margins[:48] = 1.0
    lasso = Lasso(masks, validation_rows=12, threads=1)
    fits = lasso.refit(margins, [choice.best for choice in lasso.choose(margins)])
    assert [fit.features.size for fit in fits] == [0, 0, 0]
    np.testing.assert_allclose([fit.bias for fit in fits], margins.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose([fit.lam for fit in fits], [lambda_max(masks, y) for y in margins.T], rtol=1e-6)


def test_masks_that_are_all_constant():
    _, margins, _ = problem(3, 50, 4)
    masks = np.repeat([[True, False, True, False]], 50, axis=0)
    fitted = fit_lasso(masks, margins)
    assert not fitted.weight.any()
    np.testing.assert_allclose(fitted.bias, margins.mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("dtype", (np.float16, np.float32, np.int8))
def test_margins_of_other_types_are_taken_as_their_values(dtype):
    masks, margins, _ = problem(4)
    margins = (8 * margins).astype(dtype)
    fitted, expected = fit_lasso(masks, margins), fit_lasso(masks, margins.astype(np.float64))
    np.testing.assert_array_equal(fitted.weight, expected.weight)
    np.testing.assert_array_equal(fitted.bias, expected.bias)
    strided = fit_lasso(masks, np.asfortranarray(margins))
    np.testing.assert_array_equal(strided.weight, fitted.weight)


@pytest.mark.parametrize(("factor", "shift"), [(1e-6, 0.0), (1e5, 0.0), (1.0, 1e6), (-3.0, -40.0)])
def test_scale_and_shift_of_margins_pass_through(factor, shift):
    masks, margins, _ = problem(5)
    plain, moved = fit_lasso(masks, margins, tolerance=1e-9), fit_lasso(masks, factor * margins + shift, tolerance=1e-9)
    np.testing.assert_allclose(moved.weight, factor * plain.weight, atol=1e-5 * abs(factor))
    np.testing.assert_allclose(moved.bias, factor * plain.bias + shift, atol=1e-5 * abs(factor), rtol=1e-9)
    np.testing.assert_allclose(moved.lam, abs(factor) * plain.lam, rtol=1e-5)


# --- sentences -----------------------------------------------------------------------------------------------------

NAN, INF = np.nan, np.inf
WIDE = PackedMasks(np.zeros((400, 2_500), np.uint8), 20_000)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"margins": np.zeros((5, 2))}, r"`margins` must have shape \(400, n_targets\), one row per mask, .* \(5, 2\)"),
    ({"margins": np.zeros(400)}, "`margins` must have shape"),
    ({"margins": np.full((400, 1), NAN)}, "`margins` must be finite"),
    ({"margins": np.full((400, 1), -INF)}, "`margins` must be finite"),
    ({"margins": np.zeros((400, 0))}, "`margins` must have"),
    ({"n_lambdas": 0}, "`n_lambdas` must be at least 1, but it is 0"),
    ({"lambda_ratio": 0.0}, r"`lambda_ratio` must lie in \(0, 1\], but it is 0"),
    ({"lambda_ratio": 1.5}, "`lambda_ratio` must lie in"),
    ({"lambda_ratio": NAN}, "`lambda_ratio` must lie in"),
    ({"validation_rows": 399}, "`validation_rows` must lie between .* and 398, but it is 399"),
    ({"validation_rows": -1}, "`validation_rows` must lie between"),
    ({"validation_rows": 0}, "`validation_rows` must lie between 1 and 398"),
    ({"patience": 0}, "`patience` must be at least 1, but it is 0"),
    ({"tolerance": 0.0}, r"`tolerance` must lie in \(0, 1\), but it is 0"),
    ({"tolerance": 1.0}, "`tolerance` must lie in"),
    ({"tolerance": NAN}, "`tolerance` must lie in"),
    ({"threads": -1}, "`threads` must"),
    ({"memory_gb": NAN}, "`memory_gb` must"),
    ({"memory_gb": -1.0}, "`memory_gb` must be at least .* for 400 masks of 30 images, but it is -1"),
    ({"masks": WIDE, "memory_gb": 0.05}, "`memory_gb` must be at least .* for 400 masks of 20000 .* it is 0.05"),
    ({"masks": np.zeros(400, bool)}, "`array` must be a 2-D array"),
    ({"masks": np.full((400, 3), 2)}, "`array` must hold nothing but 0 and 1"),
])  # fmt: skip
def test_bad_input(change, sentence):
    masks, margins, _ = problem()
    with pytest.raises(ValueError, match=sentence):
        fit_lasso(**{"masks": masks, "margins": margins, **change})


@pytest.mark.parametrize("n", (1, 2))
def test_too_few_masks(n):
    """Nothing is said of `validation_rows`, which the caller did not give."""
    masks, margins, _ = problem(n=n)
    with pytest.raises(ValueError, match="`masks` must have at least 3 rows"):
        fit_lasso(masks, margins)


def test_three_masks_are_enough():
    masks, margins, _ = problem(n=3)
    assert np.isfinite(fit_lasso(masks, margins).weight).all()


@pytest.mark.parametrize(("lambdas", "sentence"), [
    (np.zeros((2, 2, 3)), r"`lambdas` must have shape \(L,\) or \(L, 3\), but it is \(2, 2, 3\)"),
    (np.ones((2, 2)), r"`lambdas` must have shape"),
    (np.ones(0), "`lambdas` must have shape"),
    (np.array(1.0), "`lambdas` must have shape"),
    (np.array([0.1, 0.2]), "`lambdas` must be finite, larger than 0 and decreasing"),
    (np.array([0.1, 0.0]), "`lambdas` must be finite, larger than 0 and decreasing"),
    (np.array([0.1, -0.1]), "`lambdas` must be finite, larger than 0 and decreasing"),
    (np.array([NAN]), "`lambdas` must be finite, larger than 0 and decreasing"),
    (np.array([INF, 1.0]), "`lambdas` must be finite, larger than 0 and decreasing"),
])  # fmt: skip
def test_bad_lambdas(lambdas, sentence):
    masks, margins, _ = problem()
    with pytest.raises(ValueError, match=sentence):
        lasso_path(masks, margins, lambdas=lambdas)


def test_lambda_is_not_chosen_after_a_refit():
    """The rows of the Gram matrix then count the validation rows: `choose` and `path` would look at them."""
    masks, margins, _ = problem()
    lasso = Lasso(masks, validation_rows=100, n_lambdas=5)
    lasso.refit(margins, [choice.best for choice in lasso.choose(margins)])
    with pytest.raises(RuntimeError, match="λ is chosen before the first refit"):
        lasso.choose(margins)
    with pytest.raises(RuntimeError, match="before the first refit"):
        lasso.path(margins)


@pytest.mark.parametrize("count", (2, 4))
def test_a_refit_needs_a_start_for_each_target(count):
    masks, margins, _ = problem()
    lasso = Lasso(masks, validation_rows=100, n_lambdas=5)
    best = lasso.choose(margins)[0].best
    with pytest.raises(ValueError, match="`starts` must"):
        lasso.refit(margins, [best] * count)


def test_a_refit_of_bad_margins_changes_nothing():
    masks, margins, _ = problem()
    lasso = Lasso(masks, validation_rows=100, n_lambdas=5)
    before = lasso.choose(margins)
    with pytest.raises(ValueError, match="`margins` must have shape"):
        lasso.refit(margins[:5], [choice.best for choice in before])
    assert same_choices(before, lasso.choose(margins))
