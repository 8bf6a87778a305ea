"""What must not change a bit of a fit: threads, memory, batches, other targets, what was fitted before."""

import numpy as np
import pytest
from lasso_problems import HARD, problem, same_choices, same_path, whole_fit

from datamodels_inf.lasso import solver as lasso_module
from datamodels_inf.lasso.descent import Scratch
from datamodels_inf.lasso.gram import Gram
from datamodels_inf.lasso.prefixes import fit_lasso
from datamodels_inf.lasso.solver import Lasso, lasso_path


@pytest.fixture(scope="module", params=[1e-6, 1e-9], ids=["default", "tight"])
def reference(request):
    masks, margins, _ = problem(18, 271, 103, 7)
    tolerance = request.param
    return masks, margins, tolerance, whole_fit(masks, margins, threads=1, tolerance=tolerance)[:2]


def small_capacity(lasso):
    lasso.gram = Gram(lasso._columns, 103 - 20)


def no_copies(lasso):
    lasso.scratch = Scratch(2, 0, 0, 103)


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


LEAST = 0.00054
"""Gigabytes: a square of a working set may have 20 rows."""

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
