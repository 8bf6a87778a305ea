"""The way down a path: which λ is best, where it ends, and what it tells of its progress."""

import time

import numpy as np
import pytest
from lasso_problems import problem
from naive_lasso import naive_choice

from datamodels_inf.lasso import solver as lasso_module
from datamodels_inf.lasso.prefixes import fit_lasso
from datamodels_inf.lasso.solver import Lasso, lasso_path


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
