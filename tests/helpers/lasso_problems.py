"""LASSO problems, and a fit held against scikit-learn and a duality gap from the data."""

import numpy as np
import pytest
from naive_lasso import objective, relative_gap, scikit_learn

from datamodels_inf.lasso.columns import Rounded
from datamodels_inf.lasso.solver import Lasso


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
    """The margins as a fit takes them: to 32 bits of their range, each part, divided at `split`, on its own."""
    parts = np.split(y, [] if split is None else np.atleast_1d(split))
    return np.concatenate([Rounded(part).values for part in parts if part.size])


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


HARD = dict(n_lambdas=12, lambda_ratio=0.02, validation_rows=57)


def whole_fit(masks, margins, change=lambda lasso: None, **options):
    """(choices' errors, fits on all rows), with the Lasso changed before it starts."""
    lasso = Lasso(masks, **{**HARD, **options})
    change(lasso)
    choices = lasso.choose(margins)
    return choices, lasso.refit(margins, [choice.best for choice in choices]), lasso


def prefix_fits(masks, margins, ends, change=lambda lasso: None, **options):
    """(choices, fits) of each prefix, with the Lasso changed before it starts."""
    lasso = Lasso(masks[: ends[-1]], ends=ends, **{**HARD, **options})
    change(lasso)
    results, fits = [], None
    for k, end in enumerate(ends):
        choices = lasso.choose(margins[:end], prefix=k, before=fits)
        fits = lasso.refit(margins[:end], [choice.best for choice in choices], prefix=k)
        results.append((choices, fits))
    return results


def same_prefixes(a, b):
    return len(a) == len(b) and all(
        same_choices(x[0], y[0]) and same_path(x[1], y[1]) for x, y in zip(a, b, strict=True)
    )


def same_choices(a, b):
    return all(
        np.array_equal(x.mse, y.mse)
        and np.array_equal(x.gap, y.gap)
        and np.array_equal(x.best.features, y.best.features)
        and np.array_equal(x.best.w, y.best.w)
        for x, y in zip(a, b, strict=True)
    )


def random_masks(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d)) < 0.5
