"""LASSO datamodels against scikit-learn and a duality gap from the data, used as a stranger would."""

import re
import time
import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from naive_lasso import lambda_max, naive_choice, objective, relative_gap, scikit_learn, standardised

from datamodels_inf import PackedMasks
from datamodels_inf.kernels.gram_rows import fill_gram
from datamodels_inf.lasso import descent
from datamodels_inf.lasso import solver as lasso_module
from datamodels_inf.lasso.columns import Rounded
from datamodels_inf.lasso.descent import Descent, Scratch, Solution
from datamodels_inf.lasso.gram import Gram
from datamodels_inf.lasso.solver import Lasso, as_datamodel, count_validation_rows, fit_lasso, lasso_path


def problem(seed=0, n=400, d=30, targets=3, noise=0.5):
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    theta = rng.standard_normal((d, targets)) * (rng.random((d, targets)) < 0.3)
    return masks, masks @ theta + 1.5 + noise * rng.standard_normal((n, targets)), theta


def odd_problem(seed=0, n=150, d=20, targets=3):
    """Column 1 equals column 0, 2 is its complement, 3 is full, 4 empty, 5 rare; all but 3 and 4 have an effect."""
    masks, margins, _ = problem(seed, n, d, targets)
    masks[:, 1], masks[:, 2], masks[:, 3], masks[:, 4] = masks[:, 0], ~masks[:, 0], True, False
    masks[:, 5] = np.arange(n) % 29 == 3
    return masks, margins + 2.0 * masks[:, [0]] - 3.0 * masks[:, [5]]


def standardised_weights(fit, masks):
    w = np.zeros(masks.shape[1])
    w[fit.features] = fit.weights * masks.std(axis=0)[fit.features]
    return w


def rounded(y, split=None):
    """The margins as a fit takes them: to 32 bits of their range, each part on its own."""
    split = len(y) if split is None else split
    return np.concatenate([Rounded(part).values for part in (y[:split], y[split:]) if part.size])


def check_fit(fit, masks, y, tolerance, weights=True, split=None):
    """A fit against scikit-learn at its λ, and its gap against the one from masks and margins."""
    w = standardised_weights(fit, masks)
    expected = scikit_learn(masks, y, fit.lam)
    assert objective(masks, y, w, fit.lam) == pytest.approx(objective(masks, y, expected, fit.lam), rel=1e-6)
    if weights:
        np.testing.assert_allclose(w, expected, atol=1e-4)
    assert fit.bias == pytest.approx(y.mean() - masks[:, fit.features].mean(axis=0) @ fit.weights, abs=1e-7)
    check_gap(fit, masks, y, tolerance, split)


def check_gap(fit, masks, y, tolerance, split=None):
    w = standardised_weights(fit, masks)
    assert fit.gap == pytest.approx(relative_gap(masks, rounded(y, split), w, fit.lam), rel=1e-4, abs=1e-12)
    assert fit.gap == pytest.approx(relative_gap(masks, y, w, fit.lam), abs=1e-8)
    assert 0.0 <= fit.gap <= tolerance


def same_path(a, b):
    return len(a) == len(b) and all(same_fit(x, y) for x, y in zip(a, b, strict=True))


def same_fit(a, b):
    return (
        np.array_equal(a.features, b.features)
        and np.array_equal(a.weights, b.weights)
        and (a.bias, a.lam, a.gap) == (b.bias, b.lam, b.gap)
    )


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


@pytest.mark.parametrize("tolerance", (1e-2, 1e-4, 1e-6, 1e-9))
def test_the_gap_that_is_reported_is_the_gap(tolerance):
    """Rough solutions too; the bound on how far P is from its minimum holds."""
    masks, margins, _ = problem(11, 200, 70, 4)
    path = lasso_path(masks, margins, n_lambdas=12, lambda_ratio=0.02, tolerance=tolerance)
    for t in range(4):
        y = margins[:, t]
        for fit in path.fits[t][1::4]:
            w = standardised_weights(fit, masks)
            assert fit.gap == pytest.approx(relative_gap(masks, rounded(y), w, fit.lam), rel=1e-4, abs=1e-12)
            assert fit.gap <= tolerance
            least = objective(masks, y, scikit_learn(masks, y, fit.lam), fit.lam)
            assert objective(masks, y, w, fit.lam) - least <= (fit.gap + 1e-7) * 0.5 * y.var()


@pytest.mark.parametrize("end", (1e-3, 1e-6))
@pytest.mark.parametrize("dtype", (np.float64, np.float16))
def test_the_gap_holds_for_the_margins_themselves(end, dtype):
    """Not only for the margins as they were rounded, to 2⁻³² of their range."""
    masks, margins, _ = problem(97, 97, 13, 3)
    margins = margins.astype(dtype)
    path = lasso_path(masks, margins, n_lambdas=8, lambda_ratio=end)
    for t in range(3):
        y = margins[:, t].astype(np.float64)
        gaps = [relative_gap(masks, y, standardised_weights(fit, masks), fit.lam) for fit in path.fits[t]]
        assert max(gaps) <= 1.05e-6


@pytest.mark.parametrize("seed", (2, 15, 45, 50, 57, 102, 143))
def test_fewer_masks_than_images_do_not_keep_a_fit_from_its_end(seed):
    """Thousands of sweeps: what float32 loses on the way must not add up."""
    masks, margins, _ = problem(seed, 50, 120)
    for count, end in ((8, 0.01), (30, 0.001)):
        assert lasso_path(masks, margins, n_lambdas=count, lambda_ratio=end).gap.max() <= 1e-6


@pytest.mark.parametrize("seed", (4, 13, 60, 64, 74, 146))
def test_near_copies_do_not_keep_a_fit_from_its_end(seed):
    """Without the steps of Newton's, each of these ends above 1e-5, after 1000 rounds of sweeps."""
    masks, margins = near_copies(seed)
    assert lasso_path(masks, margins, n_lambdas=10, lambda_ratio=1e-3).gap.max() <= 1e-6


def near_copies(seed):
    """Columns that nearly equal each other: coordinate descent is slow on them."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 120)), int(rng.integers(20, 200))
    base = rng.random((n, 1)) < 0.5
    masks = (base ^ (rng.random((n, d)) < rng.choice([0.01, 0.03, 0.1])))[rng.permutation(n)]
    return masks, rng.standard_normal((n, 2)) + 3 * masks[:, :2]


@pytest.mark.parametrize(("share", "copies"), [(0.1, False), (0.1, True), (2.0, False), (2.0, True)])
def test_newtons_steps_end_at_the_minimum_over_their_columns(share, copies):
    """With columns that equal each other, whose matrix is singular, and down to no weight at all."""
    masks, margins, _ = problem(5, 300, 12, 1)
    masks[:, 3] = masks[:, 2] if copies else masks[:, 3]
    lam, features = share * lambda_max(masks, margins[:, 0]), np.arange(1, 9)
    lasso = Lasso(masks, validation_rows=0)
    (moments,) = lasso.moments([margins[:, 0]])
    start = Solution(lam, features, np.where(features % 2, 0.3, -0.2), 0.0)
    way = Descent(lasso.gram, lasso.scratch, moments, np.array([lam]), 1e-6, lambda solution: True, start)
    lasso.gram.require(features)
    way._make_room(8)
    fill_gram(lasso.gram.view, features, 0, way._local)
    way._g = way._correlate()
    way._newton(lam)
    kept, g = way._w != 0.0, way._correlate()[features]
    assert kept.any() == (share < 1)
    np.testing.assert_allclose(g[kept], lam * np.sign(way._w[kept]), rtol=1e-5)
    assert (way._w * start.w >= 0).all()


HARD_TO_FIT = {"near copies": near_copies(7), "fewer masks than images": problem(15, 50, 120)[:2]}


@pytest.mark.parametrize("tolerance", (1e-6, 1e-9, 1e-13))
@pytest.mark.parametrize("name", HARD_TO_FIT)
def test_a_fit_that_does_not_get_there_says_so(name, tolerance, monkeypatch):
    """The gap is within the tolerance, or a warning names it; the gap that is reported is right in both cases."""
    monkeypatch.setattr(descent, "MOST_ROUNDS", 200)
    masks, margins = HARD_TO_FIT[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        path = lasso_path(masks, margins, n_lambdas=10, lambda_ratio=1e-3, tolerance=tolerance)
    assert (path.gap.max() > tolerance) == any("`tolerance`" in str(word.message) for word in told)
    for t, fits in enumerate(path.fits):
        for fit in fits:
            gap = relative_gap(masks, rounded(margins[:, t]), standardised_weights(fit, masks), fit.lam)
            assert fit.gap == pytest.approx(gap, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("call", ("choose", "refit", "fit_lasso"))
def test_each_way_to_fit_warns(call, monkeypatch):
    masks, margins = problem(15, 60, 120)[:2]
    options = {"validation_rows": 10, "lambda_ratio": 1e-2, "n_lambdas": 5, "patience": 9}
    lasso = Lasso(masks, **options)
    best = [choice.best for choice in lasso.choose(margins)]
    monkeypatch.setattr(descent, "MOST_ROUNDS", 1)
    monkeypatch.setattr(descent, "MOST_SWEEPS", 1)
    with pytest.warns(UserWarning, match=r"fits ended with a duality gap of up to .*, more than `tolerance` = 1e-06"):
        if call == "choose":
            Lasso(masks, **options).choose(margins)
        elif call == "refit":
            lasso.refit(margins, best)
        else:
            fit_lasso(masks, margins, **options)


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


@pytest.mark.parametrize("patience", (1, 2, 3, 100))
@pytest.mark.parametrize(("n", "d", "rows"), [(400, 30, 100), (130, 90, 37), (67, 10, 1)])
def test_lambda_is_the_best_on_the_validation_block(n, d, rows, patience):
    """A loop over the same path with scikit-learn finds the same λ and stops where this one stops."""
    masks, margins, _ = problem(n + rows, n, d, 3, noise=1.5)
    ratios = np.geomspace(1, 0.01, 15)
    lasso = Lasso(masks, validation_rows=rows, n_lambdas=15, lambda_ratio=0.01, patience=patience, tolerance=1e-9)
    choices = lasso.choose(margins)
    for t, choice in enumerate(choices):
        lam, errors = naive_choice(masks, margins[:, t], n - rows, ratios, patience)
        assert choice.best.lam == pytest.approx(lam, rel=1e-6)
        np.testing.assert_allclose(choice.mse, errors, rtol=1e-4)
        assert choice.lambdas.shape == choice.gap.shape == choice.n_nonzero.shape == errors.shape
        assert choice.best.lam == choice.lambdas[np.argmin(choice.mse)]
        assert choice.best.features.size == choice.n_nonzero[np.argmin(choice.mse)]
        assert choice.at_end == (np.argmin(errors) == 14)
        assert (choice.gap <= 1e-9).all()
    for choice, fit in zip(choices, lasso.refit(margins, [c.best for c in choices]), strict=True):
        assert fit.lam == choice.best.lam


def test_patience_cuts_the_path_and_does_not_change_the_best():
    """Where the validation curve is unimodal; without patience the path goes to its end."""
    masks, margins, _ = problem(5, 300, 60, 6, noise=2.0)
    whole = lasso_path(masks, margins, n_lambdas=40, lambda_ratio=0.001, validation_rows=100)
    cut = 0
    for patience in (1, 4):
        lasso = Lasso(masks, validation_rows=100, n_lambdas=40, lambda_ratio=0.001, patience=patience)
        for t, choice in enumerate(lasso.choose(margins)):
            np.testing.assert_array_equal(choice.mse, whole.mse[: choice.mse.size, t])
            np.testing.assert_array_equal(choice.n_nonzero, whole.n_nonzero[: choice.mse.size, t])
            best = int(np.argmin(whole.mse[:, t]))
            rises = np.diff(whole.mse[:, t]) >= 0
            if (~rises[:best]).all() and rises[best:].all():
                cut += 1
                assert choice.best.lam == whole.lambdas[best, t]
                assert choice.mse.size == min(40, best + patience + 1)
    assert cut >= 6


def test_at_end_says_that_the_path_was_too_short():
    masks, margins, _ = problem(6, noise=0.01)
    short = Lasso(masks, validation_rows=80, n_lambdas=5, lambda_ratio=0.5).choose(margins)
    assert all(choice.at_end and choice.best.lam == choice.lambdas[4] for choice in short)
    long = Lasso(masks, validation_rows=80, n_lambdas=200, lambda_ratio=1e-6).choose(margins)
    assert not any(choice.at_end for choice in long)
    one = Lasso(masks, validation_rows=80, n_lambdas=1).choose(margins)
    assert all(choice.at_end and choice.n_nonzero.tolist() == [0] for choice in one)


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


# --- what must not matter ------------------------------------------------------------------------------------------

HARD = dict(n_lambdas=12, lambda_ratio=0.02, validation_rows=57)


def whole_fit(masks, margins, change=lambda lasso: None, **options):
    """(choices' errors, fits on all rows), with the Lasso changed before it starts."""
    lasso = Lasso(masks, **{**HARD, **options})
    change(lasso)
    choices = lasso.choose(margins)
    return choices, lasso.refit(margins, [choice.best for choice in choices]), lasso


def same_choices(a, b):
    return all(
        np.array_equal(x.mse, y.mse)
        and np.array_equal(x.gap, y.gap)
        and np.array_equal(x.best.features, y.best.features)
        and np.array_equal(x.best.w, y.best.w)
        for x, y in zip(a, b, strict=True)
    )


@pytest.fixture(scope="module", params=[1e-6, 1e-9], ids=["default", "tight"])
def reference(request):
    masks, margins, _ = problem(18, 271, 103, 7)
    tolerance = request.param
    return masks, margins, tolerance, whole_fit(masks, margins, threads=1, tolerance=tolerance)[:2]


def small_capacity(lasso):
    lasso.gram = Gram(lasso._columns, 103 - 20)


def no_copies(lasso):
    lasso.scratch = Scratch(2, 0)


def rows_there(lasso):
    lasso.gram.require(np.arange(103))


def test_a_target_is_fitted_alike_among_many():
    """More than are summed together (16) and than go down their paths together (32)."""
    masks, margins, _ = problem(3, 150, 24, 35)
    together = fit_lasso(masks, margins, n_lambdas=9)
    for t in (0, 15, 16, 31, 32, 34):
        alone = fit_lasso(masks, margins[:, [t]], n_lambdas=9)
        np.testing.assert_array_equal(alone.weight[:, 0], together.weight[:, t])
        assert (alone.bias[0], alone.lam[0]) == (together.bias[t], together.lam[t])


LEAST = 0.0006
"""Gigabytes: a square of a working set may have 25 rows."""

CHANGES = {
    "two threads": ({"threads": 2}, None),
    "five threads": ({"threads": 5}, None),
    "more memory": ({"memory_gb": 1.0}, None),
    "memory without an end": ({"memory_gb": np.inf}, None),
    "the least memory": ({"memory_gb": LEAST, "threads": 2}, None),
    "few rows of the Gram matrix": ({}, small_capacity),
    "no copies of it": ({"threads": 2}, no_copies),
    "all rows of it from the start": ({}, rows_there),
}


@pytest.mark.parametrize("name", CHANGES)
def test_neither_threads_nor_memory_change_a_bit(reference, name):
    masks, margins, tolerance, (choices, fits) = reference
    options, change = CHANGES[name]
    others, other_fits, lasso = whole_fit(
        masks, margins, change or (lambda lasso: None), tolerance=tolerance, **options
    )
    assert same_choices(choices, others)
    assert same_path(fits, other_fits)
    if options.get("memory_gb") == LEAST:
        assert lasso.scratch.most_rows < 30 < max(fit.features.size for fit in fits)
    if change is small_capacity:
        assert lasso.gram.counted > 103  # Some rows were pushed out and counted again.


@pytest.mark.parametrize("batch", (1, 2, 5))
def test_the_size_of_a_batch_does_not_change_a_bit(reference, batch, monkeypatch):
    masks, margins, tolerance, (choices, fits) = reference
    monkeypatch.setattr(lasso_module, "BATCH", batch)
    others, other_fits, _ = whole_fit(masks, margins, tolerance=tolerance)
    assert same_choices(choices, others)
    assert same_path(fits, other_fits)


def test_other_targets_do_not_change_a_bit(reference):
    masks, margins, tolerance, (choices, fits) = reference
    for some in ([0], [3], [6, 2], [5, 4, 3, 2, 1, 0]):
        others, other_fits, _ = whole_fit(masks, margins[:, some], tolerance=tolerance)
        assert same_choices([choices[t] for t in some], others)
        assert same_path([fits[t] for t in some], other_fits)


@pytest.mark.parametrize("seed", (15, 57, 143))
def test_a_wait_for_rows_changes_no_bit_of_a_fit_that_takes_many_rounds(seed):
    """Newton's steps come every so many rounds, whether rows of the Gram matrix were waited for in between or not."""
    masks, margins, _ = problem(seed, 50, 120)
    options = {"n_lambdas": 30, "lambda_ratio": 0.001}
    waited = [lasso_path(masks, margins[:, [t]], **options) for t in range(margins.shape[1])]
    lasso = Lasso(masks, validation_rows=0, **options)
    lasso.gram.require(np.arange(120))
    path = lasso.path(margins)
    for t, alone in enumerate(waited):
        np.testing.assert_array_equal(alone.weights(0), path.weights(t))


def test_what_was_fitted_before_does_not_change_a_bit(reference):
    masks, margins, tolerance, (choices, fits) = reference
    lasso = Lasso(masks, **HARD, tolerance=tolerance)
    lasso.choose(margins[:, ::-1])
    others = lasso.choose(margins)
    lasso.refit(margins[:, ::-1], [choice.best for choice in others[::-1]])
    assert same_choices(choices, others)
    assert same_path(fits, lasso.refit(margins, [choice.best for choice in others]))


def test_a_path_is_the_way_that_choose_goes(reference):
    masks, margins, tolerance, (choices, _) = reference
    path = lasso_path(masks, margins, **HARD, tolerance=tolerance)
    for t, choice in enumerate(choices):
        np.testing.assert_array_equal(choice.lambdas, path.lambdas[: choice.mse.size, t])
        np.testing.assert_array_equal(choice.mse, path.mse[: choice.mse.size, t])


def test_rows_of_the_gram_matrix_are_counted_for_few_columns():
    """Of 600 columns only those that a solution comes near."""
    masks, margins, _ = problem(19, 2000, 600, 1)
    margins = 3.0 * masks[:, :1] + 2.0 * masks[:, 5:6] + 0.1 * margins[:, :1]
    lasso = Lasso(masks, validation_rows=400, n_lambdas=10, lambda_ratio=0.5)
    choices = lasso.choose(margins)
    assert set(choices[0].best.features.tolist()) == {0, 5}
    assert lasso.gram.counted <= 64


# --- progress ------------------------------------------------------------------------------------------------------


def test_progress_is_told_by_one_thread_at_a_time():
    masks, margins, _ = problem(4, targets=8)
    inside, most = [], []

    def progress(step):
        inside.append(step)
        time.sleep(0.001)
        most.append(len(inside))
        inside.pop()

    fit_lasso(masks, margins, n_lambdas=7, threads=4, progress=progress)
    assert max(most) == 1


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("patience", (1, 3, 50))
def test_progress_adds_up_to_the_number_of_targets(patience, threads, monkeypatch):
    """With targets that stop early, that go to the end and that are constant, in several batches."""
    monkeypatch.setattr(lasso_module, "BATCH", 3)
    masks, margins, _ = problem(4, targets=8, noise=2.0)
    margins[:, 2] = 1.0
    steps = []
    fit_lasso(masks, margins, n_lambdas=7, patience=patience, threads=threads, progress=steps.append)
    assert sum(steps) == pytest.approx(8)
    assert min(steps) > 0
    lasso = Lasso(masks, validation_rows=80, n_lambdas=7, patience=patience, threads=threads)
    chosen, refitted = [], []
    choices = lasso.choose(margins, chosen.append)
    lasso.refit(margins, [choice.best for choice in choices], refitted.append)
    assert sum(chosen) == pytest.approx(8)
    assert sum(refitted) == pytest.approx(8)


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


@pytest.mark.parametrize(("n", "d"), [(400, 30), (1042, 2695), (50_000, 3_000), (7, 1), (2_000, 1_000)])
def test_the_memory_that_the_sentence_asks_for_is_enough(n, d):
    masks = PackedMasks(np.zeros((n, (d + 7) // 8), np.uint8), d)
    with pytest.raises(ValueError, match="`memory_gb` must be at least") as told:
        Lasso(masks, validation_rows=1, memory_gb=1e-9)
    asked = float(re.search(r"at least (\S+) for", str(told.value))[1])
    Lasso(masks, validation_rows=1, memory_gb=asked)


def test_a_solution_that_does_not_fit_in_memory():
    """With the memory that the sentence asks for, it does."""
    masks, margins, _ = problem(1, 3000, 1500, 1, noise=0.01)
    options = {"n_lambdas": 3, "lambda_ratio": 1e-5}
    with pytest.raises(
        ValueError, match=r"the rows of 1\d\d\d fit in memory: end it at a larger `lambda_ratio`"
    ) as told:
        lasso_path(masks, margins, memory_gb=0.0098, **options)
    enough = float(re.search(r"set `memory_gb` to (\S+), enough for all rows", str(told.value))[1])
    path = lasso_path(masks, margins, memory_gb=enough, **options)
    assert path.n_nonzero[-1, 0] > 1200
    assert path.gap.max() <= 1e-6


class Watched(Scratch):
    """Counts the squares that are out, and those beyond `most_rows` among them."""

    def __init__(self, count, total_bytes):
        super().__init__(count, total_bytes)
        self.out, self.most_out, self.most_large = [], 0, 0

    def take(self, least):
        square = super().take(least)
        with self._lock:
            self.out.append(square.nbytes)
            self.most_out = max(self.most_out, sum(self.out) + sum(free.nbytes for free in self._free))
            self.most_large = max(self.most_large, sum(size > 4 * self.most_rows**2 for size in self.out))
        return square

    def give(self, square):
        with self._lock:
            if square.size:
                self.out.remove(square.nbytes)
        super().give(square)


def test_squares_of_working_sets_keep_to_their_memory():
    """Those in use and those kept for later; a larger one is there only alone, with the one that it grows from."""
    masks, margins, _ = problem(18, 271, 103, 7)
    lasso = Lasso(masks, **HARD, threads=3)
    lasso.scratch = Watched(3, 3 * 4 * 50**2)
    lasso.gram.require(np.arange(103))  # No wait for rows gives a square back.
    choices = lasso.choose(margins)
    assert max(choice.n_nonzero.max() for choice in choices) > 50
    assert lasso.scratch.most_large in (1, 2)
    assert lasso.scratch.out == []
    assert lasso.scratch.most_out <= 2 * lasso.scratch.total_bytes + 2 * 4 * 103**2


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


def test_standardised_is_what_it_says():
    z = standardised(problem()[0])
    np.testing.assert_allclose([z.mean(0), z.std(0)], [[0.0] * 30, [1.0] * 30], atol=1e-12)
