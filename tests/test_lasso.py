"""LASSO datamodels against scikit-learn, used as a stranger would."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from datamodels_inf import PackedMasks
from datamodels_inf.lasso import fit_lasso


def problem(seed=0, n=400, d=30, targets=3):
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    theta = rng.standard_normal((d, targets)) * (rng.random((d, targets)) < 0.3)
    return masks, masks @ theta + 1.5 + 0.5 * rng.standard_normal((n, targets)), theta


def test_refit_equals_scikit_learn_at_the_chosen_lambda():
    masks, margins, _ = problem()
    fitted = fit_lasso(masks, margins)
    z = (masks - masks.mean(0)) / masks.std(0)
    for t in range(3):
        reference = Lasso(alpha=fitted.lam[t], tol=1e-10, max_iter=100_000).fit(z, margins[:, t])
        weight = reference.coef_ / masks.std(0)
        np.testing.assert_allclose(fitted.weight[:, t], weight, atol=1e-4)
        assert fitted.bias[t] == pytest.approx(reference.intercept_ - masks.mean(0) @ weight, abs=1e-3)


def test_lambda_is_the_best_on_the_validation_block():
    """A loop over the same path with scikit-learn finds the same λ."""
    masks, margins, _ = problem(1, targets=1)
    fitted = fit_lasso(masks, margins, n_lambdas=15, lambda_ratio=0.01, validation_rows=100)
    x, y = masks[:300].astype(float), margins[:300, 0]
    z, scale = (x - x.mean(0)) / x.std(0), x.std(0)
    largest = np.abs(z.T @ (y - y.mean())).max() / 300
    errors = []
    for lam in largest * np.geomspace(1, 0.01, 15):
        model = Lasso(alpha=lam, tol=1e-10, max_iter=100_000).fit(z, y)
        predicted = (masks[300:] - x.mean(0)) / scale @ model.coef_ + model.intercept_
        errors.append(((predicted - margins[300:, 0]) ** 2).mean())
    assert fitted.lam[0] == pytest.approx(largest * np.geomspace(1, 0.01, 15)[int(np.argmin(errors))])


def test_finds_planted_effects_and_predicts_held_out_rows():
    masks, margins, theta = problem(2, n=3000)
    fitted = fit_lasso(PackedMasks.from_bool(masks[:2000]), margins[:2000].astype(np.float16))
    assert np.abs(fitted.weight - theta).max() < 0.15
    quality = fitted.quality(masks[2000:], margins[2000:])
    assert (quality.mse < 0.29).all()  # The noise has variance 0.25.


def test_constant_targets_and_columns():
    masks, margins, _ = problem(3)
    masks[:, 4], masks[:, 5] = True, False
    margins[:, 1] = 7.0
    fitted = fit_lasso(masks, margins)
    assert (fitted.weight[:, 1] == 0).all()
    assert fitted.bias[1] == 7.0
    assert (fitted.weight[[4, 5]] == 0).all()


def test_progress_counts_targets():
    masks, margins, _ = problem(4)
    steps = []
    fit_lasso(masks, margins, n_lambdas=3, progress=steps.append)
    assert steps == [1, 1, 1]


@pytest.mark.parametrize(("change", "sentence"), [
    ({"margins": np.zeros((5, 2))}, "`margins` must have shape"),
    ({"margins": np.full((400, 1), np.nan)}, "`margins` must be finite"),
    ({"n_lambdas": 0}, "`n_lambdas` must be at least 1"),
    ({"lambda_ratio": 0.0}, "`lambda_ratio` must lie in"),
    ({"validation_rows": 399}, "`validation_rows` must lie between 1 and 398"),
    ({"masks": PackedMasks(np.zeros((400, 2_500_000), np.uint8), 20_000_000)}, "GiB as a dense design"),
])  # fmt: skip
def test_bad_input(change, sentence):
    masks, margins, _ = problem()
    with pytest.raises(ValueError, match=sentence):
        fit_lasso(**{"masks": masks, "margins": margins, **change})
