"""The way down a path: the gap that is reported, fits that are slow to get there, and those that do not."""

import warnings

import numpy as np
import pytest
from lasso_problems import problem, rounded, standardised_weights
from naive_lasso import lambda_max, objective, relative_gap, scikit_learn

from datamodels_inf.kernels.gram_rows import fill_gram
from datamodels_inf.lasso import descent
from datamodels_inf.lasso.descent import Descent, Solution
from datamodels_inf.lasso.prefixes import fit_lasso
from datamodels_inf.lasso.solver import Lasso, lasso_path


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
    fill_gram(lasso.gram.view, features, np.argsort(features), 0, way._local)
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
