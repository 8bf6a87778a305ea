"""LASSO datamodels against scikit-learn and a duality gap from the data, used as a stranger would."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from lasso_problems import check_fit, check_gap, odd_problem, problem, same_path, standardised_weights
from naive_lasso import lambda_max, scikit_learn, standardised

from datamodels_inf import PackedMasks
from datamodels_inf.lasso import solver as lasso_module
from datamodels_inf.lasso.prefixes import fit_lasso
from datamodels_inf.lasso.solver import Lasso, as_datamodel, count_validation_rows, lasso_path

# --- against scikit-learn ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "end"),
    [(401, 30, 1e-3), (97, 13, 1e-4), (50, 120, 0.01), (70, 66, 0.03), (300, 1, 0.1), (200, 550, 0.1)],
)
def test_a_path_equals_scikit_learn(n, d, end):
    """Many targets at once, n < d and n > d, down to a λ where every column has a weight."""
    masks, margins, _ = problem(n, n, d, 3)
    path = lasso_path(masks, margins, n_lambdas=8, lambda_ratio=end, tolerance=1e-10)
    assert path.lambdas.shape == path.gap.shape == path.n_nonzero.shape == path.mse.shape == (8, 3)
    assert np.isnan(path.mse).all()
    for t in range(3):
        y = margins[:, t]
        np.testing.assert_allclose(path.lambdas[:, t], lambda_max(masks, y) * np.geomspace(1, end, 8), rtol=1e-5)
        for k, fit in enumerate(path.fits[t]):
            check_fit(fit, masks, y, 1e-10)
            assert path.n_nonzero[k, t] == np.count_nonzero(path.weights(t)[:, k])
        assert path.weights(t).shape == (d, 8)
    assert (path.n_nonzero[0] == 0).all()
    if n > d:
        assert (path.n_nonzero[-1] == d).all() or end > 1e-4
    else:
        assert (path.n_nonzero[-1] > 20).all()


@pytest.mark.parametrize(("seed", "n", "d"), [(0, 150, 20), (1, 40, 60)])
def test_equal_complementary_empty_and_full_columns(seed, n, d):
    masks, margins = odd_problem(seed, n, d)
    path = lasso_path(masks, margins, n_lambdas=10, lambda_ratio=0.01, tolerance=1e-9)
    for t in range(3):
        for fit in path.fits[t]:
            check_fit(fit, masks, margins[:, t], 1e-9, weights=False)
            w, expected = standardised_weights(fit, masks), scikit_learn(masks, margins[:, t], fit.lam)
            assert w[0] + w[1] - w[2] == pytest.approx(expected[0] + expected[1] - expected[2], abs=1e-4)
            np.testing.assert_allclose(w[5:], expected[5:], atol=1e-4)
            assert not np.isin([3, 4], fit.features).any()


def test_more_than_131068_rows():
    """Equal and complementary columns, whose counts do not fit in int16, with a part that the refit adds."""
    masks, margins = odd_problem(2, 140_000, 12, 1)
    lasso = Lasso(masks, validation_rows=20_000, n_lambdas=6, lambda_ratio=0.003, tolerance=1e-9)
    (choice,) = lasso.choose(margins)
    for k in range(len(choice.lambdas)):
        w = scikit_learn(masks[:120_000], margins[:120_000, 0], choice.lambdas[k])
        assert abs(choice.n_nonzero[k] - np.count_nonzero(w)) <= 2  # Of the columns 0, 1, 2 any may have the weight.
    (fit,) = lasso.refit(margins, [choice.best])
    check_fit(fit, masks, margins[:, 0], 1e-9, weights=False, split=120_000)
    path = lasso_path(masks, margins, lambdas=np.array([0.3, 0.03, 0.003]), tolerance=1e-9)
    for fit in path.fits[0]:
        check_fit(fit, masks, margins[:, 0], 1e-9, weights=False)


@settings(max_examples=50, deadline=None, derandomize=True, phases=[Phase.generate])  # To shrink takes minutes.
@given(data=st.data())
def test_the_gap_is_small_for_any_masks_and_margins(data):
    """Tiny problems with all that may go wrong in a column or a target; the last rows are left out of the fit."""
    n, d = data.draw(st.integers(3, 30)), data.draw(st.integers(1, 12))
    cells = data.draw(st.lists(st.booleans(), min_size=n * d, max_size=n * d))
    masks = np.array(cells).reshape(n, d)
    margins = np.array(data.draw(st.lists(st.integers(-8, 8), min_size=2 * n, max_size=2 * n))).reshape(n, 2) / 4.0
    left_out = data.draw(st.integers(0, n - 2))
    path = lasso_path(masks, margins, n_lambdas=4, lambda_ratio=0.05, validation_rows=left_out, threads=1)
    x, y = masks[: n - left_out], margins[: n - left_out]
    for t in range(2):
        for k, fit in enumerate(path.fits[t]):
            if np.ptp(y[:, t]) == 0:
                assert (fit.features.size, fit.bias, fit.gap) == (0, y[0, t], 0.0)
            else:
                check_gap(fit, x, y[:, t], 1e-6)
            if left_out:
                predicted = masks[n - left_out :, fit.features] @ fit.weights + fit.bias
                assert path.mse[k, t] == pytest.approx(np.mean((margins[n - left_out :, t] - predicted) ** 2), rel=1e-6)


# --- λ and the refit -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_packed", (False, True))
def test_refit_equals_scikit_learn_at_the_chosen_lambda(as_packed):
    masks, margins, _ = problem()
    fitted = fit_lasso(PackedMasks.from_bool(masks) if as_packed else masks, margins, tolerance=1e-9)
    for t in range(3):
        weight = scikit_learn(masks, margins[:, t], fitted.lam[t]) / masks.std(0)
        np.testing.assert_allclose(fitted.weight[:, t], weight, atol=1e-4)
        assert fitted.bias[t] == pytest.approx(margins[:, t].mean() - masks.mean(0) @ weight, abs=1e-3)
    assert fitted.coding == "mask"


def test_a_column_that_varies_in_the_validation_rows_alone_counts_in_the_refit():
    masks, margins, _ = problem(7)
    masks[:320, 4], masks[320:, 4] = True, np.arange(80) % 2 == 0
    masks[:320, 5], masks[320:, 5] = False, np.arange(80) % 3 == 0
    margins += 20.0 * masks[:, [4]] - 9.0 * masks[:, [5]]
    lasso = Lasso(masks, validation_rows=80, tolerance=1e-9)
    choices = lasso.choose(margins)
    for t, fit in enumerate(lasso.refit(margins, [choice.best for choice in choices])):
        check_fit(fit, masks, margins[:, t], 1e-9, split=320)
        assert np.isin([4, 5], fit.features).all()
        assert not np.isin([4, 5], choices[t].best.features).any()


def test_a_refit_may_be_repeated():
    """The solutions that it starts from are left as they are, and the rows that it completed stay complete."""
    masks, margins, _ = problem(8)
    lasso = Lasso(masks, validation_rows=100)
    starts = [choice.best for choice in lasso.choose(margins)]
    before = [start.w.copy() for start in starts]
    first, second = lasso.refit(margins, starts), lasso.refit(margins, starts)
    assert same_path(first, second)
    for start, w in zip(starts, before, strict=True):
        np.testing.assert_array_equal(start.w, w)
    fitted = fit_lasso(masks, margins, validation_rows=100)
    np.testing.assert_array_equal(as_datamodel(first, 30).weight, fitted.weight)
    np.testing.assert_array_equal(as_datamodel(first, 30).bias, fitted.bias)
    np.testing.assert_array_equal(as_datamodel(first, 30).lam, fitted.lam)


def test_a_refit_leaves_its_start_alone_where_no_column_joins():
    masks, margins, _ = problem(8, d=2)
    margins += masks @ [[5.0], [4.0]]
    lasso = Lasso(masks, validation_rows=100)
    starts = [choice.best for choice in lasso.choose(margins)]
    before = [start.w.copy() for start in starts]
    assert all(start.features.size == 2 for start in starts)
    lasso.refit(margins, starts)
    for start, w in zip(starts, before, strict=True):
        np.testing.assert_array_equal(start.w, w)


def test_finds_planted_effects_and_predicts_held_out_rows():
    masks, margins, theta = problem(2, n=3000)
    fitted = fit_lasso(PackedMasks.from_bool(masks[:2000]), margins[:2000].astype(np.float16))
    assert np.abs(fitted.weight - theta).max() < 0.15
    quality = fitted.quality(masks[2000:], margins[2000:])
    assert (quality.mse < 0.29).all()  # The noise has variance 0.25.


def test_the_default_validation_block():
    assert [count_validation_rows(n, None) for n in (3, 4, 10, 99_999, 100_004, 300_000)] == [
        1,
        1,
        2,
        19_999,
        20_000,
        20_000,
    ]
    masks, margins, _ = problem(9, 203)
    chosen, given_rows = fit_lasso(masks, margins), fit_lasso(masks, margins, validation_rows=40)
    np.testing.assert_array_equal(chosen.weight, given_rows.weight)


# --- paths ---------------------------------------------------------------------------------------------------------


def test_given_lambdas_for_all_targets_and_for_each():
    """Also λ above λ_max, far apart and repeated; the path's own λ, given, give the same solutions."""
    masks, margins, _ = problem(10, 120, 25, 5)
    lambdas = np.array([1e3, 0.2, 0.2, 0.001])
    path = lasso_path(masks, margins, lambdas=lambdas, tolerance=1e-9)
    np.testing.assert_array_equal(path.lambdas, np.repeat(lambdas[:, None], 5, axis=1))
    assert (path.n_nonzero[0] == 0).all()
    each = lambdas[:, None] * np.linspace(1, 2, 5)
    other = lasso_path(masks, margins, lambdas=each, tolerance=1e-9)
    np.testing.assert_array_equal(other.lambdas, each)
    for t in range(5):
        for fit in (*path.fits[t], *other.fits[t]):
            check_fit(fit, masks, margins[:, t], 1e-9)
    own = lasso_path(masks, margins, n_lambdas=6, lambda_ratio=0.1)
    again = lasso_path(masks, margins, lambdas=own.lambdas)
    assert all(same_path(a, b) for a, b in zip(own.fits, again.fits, strict=True))


def test_given_lambdas_of_each_target_in_batches(monkeypatch):
    masks, margins, _ = problem(10, 120, 25, 5)
    each = np.array([0.3, 0.1])[:, None] * np.linspace(1, 2, 5)
    whole = lasso_path(masks, margins, lambdas=each)
    monkeypatch.setattr(lasso_module, "BATCH", 2)
    parts = lasso_path(masks, margins, lambdas=each)
    np.testing.assert_array_equal(parts.lambdas, each)
    assert all(same_path(a, b) for a, b in zip(whole.fits, parts.fits, strict=True))


def test_a_path_as_datamodels():
    masks, margins, _ = problem(12, 200, 20)
    path = lasso_path(masks, margins, n_lambdas=9, lambda_ratio=0.01, validation_rows=50)
    steps = np.array([0, 8, 4])
    model = path.datamodel(steps)
    for t, k in enumerate(steps):
        np.testing.assert_array_equal(model.weight[:, t], path.weights(t)[:, k].astype(np.float32))
        assert (model.bias[t], model.lam[t]) == (path.fits[t][k].bias, path.lambdas[k, t])
    np.testing.assert_allclose(model.quality(masks[150:], margins[150:]).mse, path.mse[steps, range(3)], rtol=1e-5)


def test_standardised_is_what_it_says():
    z = standardised(problem()[0])
    np.testing.assert_allclose([z.mean(0), z.std(0)], [[0.0] * 30, [1.0] * 30], atol=1e-12)
