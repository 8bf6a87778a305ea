"""Prefixes at the edge: targets that are constant or without a weight at first, few rows, bad input."""

import numpy as np
import pytest
from lasso_problems import check_fit, prefix_fits, problem

from datamodels_inf.lasso.prefixes import fit_lasso, fit_lasso_prefixes
from datamodels_inf.lasso.solver import Lasso

ENDS = (100, 200, 400)


def test_a_target_that_is_constant_at_first():
    """No λ can be chosen on rows where it is constant: its weights come one prefix after the first rows that vary."""
    masks, margins, theta = problem(1, 900, 20, 5)
    margins[:80, 0], margins[:100, 1], margins[:200, 2], margins[:, 3] = 1.0, 1.0, 1.0, 1.0
    datamodels = fit_lasso_prefixes(masks, margins, (*ENDS, 800), tolerance=1e-9)
    zero = np.array([(datamodel.weight == 0).all(axis=0) for datamodel in datamodels])
    assert zero.sum(axis=0).tolist() == [1, 2, 3, 4, 0]
    assert (np.diff(zero.astype(int), axis=0) <= 0).all()
    last = datamodels[3]
    assert (last.bias[3], last.lam[3]) == (1.0, 0.0)
    assert np.abs(last.weight[:, 4] - theta[:, 4]).max() < 0.3
    for datamodel, end in zip(datamodels, (*ENDS, 800), strict=True):
        np.testing.assert_allclose(datamodel.predict(masks[:end]).mean(axis=0), margins[:end].mean(axis=0), rtol=1e-4)
    alone = fit_lasso_prefixes(masks, margins[:, [4]], (*ENDS, 800), tolerance=1e-9)
    assert all(np.array_equal(a.weight[:, 4], b.weight[:, 0]) for a, b in zip(datamodels, alone, strict=True))


def test_a_target_that_is_all_noise_at_first():
    """w = 0 is the best of its first prefix; what later rows show is found there."""
    masks, margins, theta = problem(2, 900, 20, 6)
    margins[:100] = np.random.default_rng(3).standard_normal((100, 6))
    (_, first), (_, second), (choices, last) = prefix_fits(masks, margins, (100, 500, 900), validation_rows=50)
    without = [t for t, fit in enumerate(first) if fit.features.size == 0]
    assert len(without) >= 2
    assert all(choices[t].lambdas.size > 1 for t in without)
    for t in range(6):
        assert set(np.flatnonzero(np.abs(theta[:, t]) > 0.5)) <= set(last[t].features.tolist())
    assert len(second) == 6


def test_an_image_that_first_appears_in_a_later_block():
    """Its column is constant before, and so is one that every model of the first block was trained on."""
    masks, margins, _ = problem(3, 400, 15)
    masks[:200, 4], masks[:100, 5] = False, True
    margins += 6.0 * masks[:, [4]] - 5.0 * masks[:, [5]]
    results = prefix_fits(masks, margins, ENDS, validation_rows=20, tolerance=1e-10)
    for (_, fits), end, inside in zip(results, ENDS, ([], [5], [4, 5]), strict=True):
        for t, fit in enumerate(fits):
            assert np.intersect1d(fit.features, [4, 5]).tolist() == inside
            ends = [80, *(e for e in ENDS if e < end)]
            check_fit(fit, masks[:end], margins[:end, t], 1e-10, split=ends)


@pytest.mark.parametrize("ends", [(3,), (3, 4), (3, 4, 5, 6), (5, 6, 40), (20, 40)])
@pytest.mark.parametrize("d", (1, 12))
def test_few_rows(ends, d):
    masks, margins, _ = problem(4, 40, d)
    datamodels = fit_lasso_prefixes(masks, margins, ends)
    assert len(datamodels) == len(ends)
    for datamodel in datamodels:
        assert np.isfinite(datamodel.weight).all()
        assert np.isfinite(datamodel.bias).all()
    np.testing.assert_array_equal(datamodels[0].weight, fit_lasso(masks[: ends[0]], margins[: ends[0]]).weight)


def test_masks_that_are_all_constant():
    _, margins, _ = problem(3, 60, 4)
    masks = np.repeat([[True, False, True, False]], 60, axis=0)
    for datamodel, end in zip(fit_lasso_prefixes(masks, margins, (20, 40, 60)), (20, 40, 60), strict=True):
        assert not datamodel.weight.any()
        np.testing.assert_allclose(datamodel.bias, margins[:end].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("n_lambdas", (1, 2))
def test_paths_of_one_or_two_lambdas(n_lambdas):
    masks, margins, _ = problem(5, 400, 10)
    datamodels = fit_lasso_prefixes(masks, margins, ENDS, n_lambdas=n_lambdas, lambda_ratio=0.2)
    assert all(np.isfinite(datamodel.weight).all() for datamodel in datamodels)
    first = fit_lasso(masks[:100], margins[:100], n_lambdas=n_lambdas, lambda_ratio=0.2)
    np.testing.assert_array_equal(datamodels[0].weight, first.weight)
    same = fit_lasso_prefixes(masks, margins, ENDS, n_lambdas=5, lambda_ratio=1.0)
    assert all(np.isfinite(datamodel.weight).all() for datamodel in same)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"ends": ()}, "`ends` must rise"),
    ({"ends": (100, 501)}, "`ends` must rise to at most 500, the number of rows, but it is .100, 501."),
    ({"ends": (200, 100)}, "`ends` must rise"),
    ({"ends": (100, 100)}, "`ends` must rise"),
    ({"ends": (-5, 100)}, "`masks` must have at least 3 rows"),
    ({"ends": (2, 100)}, "`masks` must have at least 3 rows"),
    ({"validation_rows": 99}, "`validation_rows` must lie between 1 and 98, but it is 99"),
    ({"margins": np.zeros((400, 2))}, r"`margins` must have shape \(500, n_targets\)"),
    ({"margins": np.full((500, 2), np.nan)}, "`margins` must be finite"),
    ({"patience": 0}, "`patience` must be at least 1"),
])  # fmt: skip
def test_bad_input(change, sentence):
    masks, margins, _ = problem(6, 500, 10)
    with pytest.raises(ValueError, match=sentence):
        fit_lasso_prefixes(**{"masks": masks, "margins": margins, "ends": ENDS, **change})


def test_prefixes_come_in_order():
    """The rows of the Gram matrix then count rows that an earlier prefix must not see."""
    masks, margins, _ = problem(7, 400, 10)
    lasso = Lasso(masks, ends=ENDS, validation_rows=20, n_lambdas=5)
    starts = [choice.best for choice in lasso.choose(margins[:100])]
    before = lasso.refit(margins[:100], starts)
    lasso.choose(margins[:200], prefix=1, before=before)
    lasso.refit(margins[:100], starts)
    lasso.refit(margins[:200], starts, prefix=1)
    with pytest.raises(RuntimeError, match="prefixes come in order"):
        lasso.refit(margins[:100], starts)
    with pytest.raises(RuntimeError, match="prefixes come in order"):
        lasso.choose(margins[:200], prefix=1, before=before)


@pytest.mark.parametrize(("prefix", "count"), [(0, 3), (1, None), (1, 2)])
def test_a_longer_prefix_needs_the_fits_of_the_one_before(prefix, count):
    masks, margins, _ = problem(8, 400, 10)
    lasso = Lasso(masks, ends=ENDS, validation_rows=20, n_lambdas=5)
    choices = Lasso(masks[:100], validation_rows=20, n_lambdas=5)
    fits = choices.refit(margins[:100], [choice.best for choice in choices.choose(margins[:100])])
    with pytest.raises(ValueError, match="`before` must hold the fit of each target on the prefix before"):
        lasso.choose(margins[: ENDS[prefix]], prefix=prefix, before=None if count is None else fits[:count])
    assert lasso.gram.level == 1
