"""Fits of every prefix of rows: each against scikit-learn, none with a look ahead, and no row counted twice."""

import numpy as np
import pytest
from lasso_problems import HARD, check_fit, prefix_fits, problem, same_path, same_prefixes, standardised_weights
from naive_lasso import lambda_max, naive_choice, scikit_learn

from datamodels_inf import PackedMasks
from datamodels_inf.lasso import solver
from datamodels_inf.lasso.columns import ColumnBits
from datamodels_inf.lasso.descent import Scratch
from datamodels_inf.lasso.gram import Gram
from datamodels_inf.lasso.prefixes import fit_lasso, fit_lasso_prefixes
from datamodels_inf.lasso.solver import Lasso
from datamodels_inf.row_blocks import block_ends

ENDS = (150, 210, 330, 500)


def same_datamodel(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("weight", "bias", "lam"))


# --- each prefix against other ways --------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "ends"), [(30, ENDS), (140, (90, 91, 200)), (20, (40, 300))])
def test_each_prefix_equals_scikit_learn_at_its_lambda(d, ends):
    masks, margins, _ = problem(d, 600, d, 3)
    results = prefix_fits(masks, margins, ends, validation_rows=20, tolerance=1e-12)
    for k, (_, fits) in enumerate(results):
        for t, fit in enumerate(fits):
            y = margins[: ends[k], t]
            check_fit(fit, masks[: ends[k]], y, 1e-12, split=[ends[0] - 20, *ends[:k]])
            expected = scikit_learn(masks[: ends[k]], y, fit.lam, tol=1e-14)
            np.testing.assert_allclose(standardised_weights(fit, masks[: ends[k]]), expected, atol=2e-6)
            assert fit.features.size > 1


@pytest.mark.parametrize("options", [{}, {"validation_rows": 31, "patience": 1}, {"n_lambdas": 9, "lambda_ratio": 0.1}])
def test_the_first_prefix_is_that_of_fit_lasso_bit_for_bit(options):
    masks, margins, _ = problem(1, 600, 40, 5)
    for packed in (False, True):
        given = PackedMasks.from_bool(masks) if packed else masks
        first, *others = fit_lasso_prefixes(given, margins, ENDS, **options)
        assert same_datamodel(first, fit_lasso(masks[:150], margins[:150], **options))
        assert len(others) == 3
    (alone,) = fit_lasso_prefixes(masks, margins, (600,), **options)
    assert same_datamodel(alone, fit_lasso(masks, margins, **options))


@pytest.mark.parametrize("patience", (1, 3, 100))
@pytest.mark.parametrize("noise", (0.3, 3.0))
def test_lambda_of_a_longer_prefix_is_the_best_on_its_new_rows(patience, noise):
    """scikit-learn on the same path from above the λ before, and on the whole path where the first is the best."""
    masks, margins, _ = problem(7, 500, 25, 6, noise=noise)
    ratios = np.geomspace(1, 0.005, 20)
    options = dict(n_lambdas=20, lambda_ratio=0.005, patience=patience, validation_rows=30, tolerance=1e-10)
    results = prefix_fits(masks, margins, ENDS, **options)
    for k in (1, 2, 3):
        rows, end = ENDS[k - 1], ENDS[k]
        for t, (choice, fit) in enumerate(zip(*results[k], strict=True)):
            y, before = margins[:end, t], results[k - 1][1][t]
            above = np.count_nonzero(lambda_max(masks[:rows], y[:rows]) * ratios > before.lam) - solver.ABOVE
            first = max(0, above) if before.features.size else 0
            lam, errors = naive_choice(masks[:end], y, rows, ratios, patience, first)
            if np.argmin(errors) == 0 and first:
                lam, errors = naive_choice(masks[:end], y, rows, ratios, patience)
            assert choice.best.lam == pytest.approx(lam, rel=1e-6)
            np.testing.assert_allclose(choice.mse, errors, rtol=1e-4)
            assert fit.lam == pytest.approx(lam * np.sqrt(rows / end) if choice.best.features.size else lam, rel=1e-6)


def test_a_lambda_that_was_far_too_small_is_left_for_the_whole_path():
    """Without noise in the first rows, with much later: the best λ lies far above, where the short path never looks."""
    masks, margins, _ = problem(8, 900, 30, 3, noise=0.0)
    margins[100:] += 12.0 * np.random.default_rng(1).standard_normal((800, 3))
    (_, fits), (choices, _) = prefix_fits(masks, margins, (100, 700), n_lambdas=60, lambda_ratio=1e-3)
    whole = naive_choice(masks[:700], margins[:700, 0], 100, np.geomspace(1, 1e-3, 60), 3)
    assert choices[0].best.lam == pytest.approx(whole[0], rel=1e-4)
    for choice, fit, y in zip(choices, fits, margins.T, strict=True):
        assert choice.lambdas[0] == pytest.approx(lambda_max(masks[:100], y[:100]), rel=1e-6)
        assert choice.best.lam > 3 * fit.lam


def test_longer_prefixes_predict_better():
    masks, margins, _ = problem(9, 4000, 120, 8, noise=3.0)
    ends = block_ends(4000, 200)
    datamodels = fit_lasso_prefixes(masks, margins, ends)
    assert len(datamodels) == len(ends) >= 6
    later = slice(ends[-1], 4000)
    mse = [np.median(datamodel.quality(masks[later], margins[later]).mse) for datamodel in datamodels]
    assert (np.diff(mse) < 0).all()
    scratch = [fit_lasso(masks[:end], margins[:end]).quality(masks[later], margins[later]).mse for end in ends]
    assert (mse <= 1.02 * np.median(scratch, axis=1)).all()


# --- no look ahead -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("d", (25, 300))
def test_what_comes_after_a_prefix_changes_no_bit_of_it(k, d):
    masks, margins, _ = problem(10, 500, d, 4)
    options = dict(n_lambdas=15, lambda_ratio=0.05)
    expected = fit_lasso_prefixes(masks, margins, ENDS, **options)
    after = slice(ENDS[k], None)
    others, other_margins = masks.copy(), margins.copy()
    others[after], other_margins[after] = ~masks[after], -1e3 * margins[after] ** 3
    found = fit_lasso_prefixes(others, other_margins, ENDS, **options)
    assert all(same_datamodel(a, b) for a, b in zip(expected[: k + 1], found[: k + 1], strict=True))
    assert not any(same_datamodel(a, b) for a, b in zip(expected[k + 1 :], found[k + 1 :], strict=True))


@pytest.mark.parametrize("count", (1, 2, 3))
def test_later_ends_change_no_bit_of_earlier_ones(count):
    masks, margins, _ = problem(11, 500, 60, 4)
    expected = fit_lasso_prefixes(masks, margins, ENDS)[:count]
    some = fit_lasso_prefixes(masks[: ENDS[count - 1]], margins[: ENDS[count - 1]], ENDS[:count])
    assert all(same_datamodel(a, b) for a, b in zip(expected, some, strict=True))


def test_margins_after_the_last_end_may_be_anything():
    masks, margins, _ = problem(12, 500, 20)
    expected = fit_lasso_prefixes(masks, margins, ENDS[:3])
    margins[ENDS[2] :] = np.nan
    found = fit_lasso_prefixes(masks, margins, ENDS[:3])
    assert all(same_datamodel(a, b) for a, b in zip(expected, found, strict=True))


# --- what must not matter ------------------------------------------------------------------------------------------


def small_capacity(lasso):
    lasso.gram = Gram(lasso._columns, 103 - 20)


def no_copies(lasso):
    lasso.scratch = Scratch(2, 0, 0, 103)


def rows_there(lasso):
    lasso.gram.require(np.arange(103))


CHANGES = {
    "two threads": ({"threads": 2}, None),
    "five threads": ({"threads": 5}, None),
    "the least memory": ({"memory_gb": 0.0009, "threads": 2}, None),
    "few rows of the Gram matrix": ({}, small_capacity),
    "no copies of it": ({"threads": 2}, no_copies),
    "all rows of it from the start": ({}, rows_there),
}


@pytest.fixture(scope="module")
def reference():
    masks, margins, _ = problem(18, 400, 103, 7)
    return masks, margins, prefix_fits(masks, margins, (200, 271, 400), threads=1)


@pytest.mark.parametrize("name", CHANGES)
def test_neither_threads_nor_memory_change_a_bit(reference, name):
    masks, margins, expected = reference
    options, change = CHANGES[name]
    found = prefix_fits(masks, margins, (200, 271, 400), change or (lambda lasso: None), **options)
    assert same_prefixes(expected, found)


@pytest.mark.parametrize("batch", (1, 2, 5))
def test_neither_batches_nor_other_targets_change_a_bit(reference, batch, monkeypatch):
    masks, margins, expected = reference
    monkeypatch.setattr(solver, "BATCH", batch)
    assert same_prefixes(expected, prefix_fits(masks, margins, (200, 271, 400)))
    some = [6, 0, 3]
    found = prefix_fits(masks, margins[:, some], (200, 271, 400))
    assert same_prefixes([tuple([of[t] for t in some] for of in both) for both in expected], found)


def test_a_prefix_may_begin_with_fits_that_another_process_made(reference):
    """What a killed run does: a new Lasso goes on at any step, with the fits of the prefix before."""
    masks, margins, expected = reference
    options = {"ends": (200, 271, 400), **HARD}
    (_, before), (choices, fits) = expected[:2]
    starts = [choice.best for choice in choices]
    again = Lasso(masks, **options).choose(margins[:271], prefix=1, before=before)
    assert same_prefixes([(choices, [])], [(again, [])])
    lasso = Lasso(masks, **options)
    assert same_path(fits, lasso.refit(margins[:271], starts, prefix=1))
    assert same_prefixes([(expected[2][0], [])], [(lasso.choose(margins, prefix=2, before=fits), [])])


def test_no_row_of_the_gram_matrix_is_counted_twice(monkeypatch):
    masks, margins, _ = problem(13, 2500, 300, 12, noise=3.0)
    ends, count = block_ends(2500, 200), ColumnBits.count_common
    seen = {}

    def noted(self, features, which, part, use, told):
        for word in range(part.words.start, part.words.stop):
            seen.setdefault(word, []).extend(features.tolist())
        count(self, features, which, part, use, told)

    monkeypatch.setattr(ColumnBits, "count_common", noted)
    fit_lasso_prefixes(masks, margins, ends)
    assert len(seen) == Lasso(masks[: ends[-1]], ends=ends, validation_rows=40)._columns.words.shape[1]
    assert all(len(features) == len(set(features)) for features in seen.values())


@pytest.mark.parametrize("patience", (1, 3))
def test_progress_adds_up_to_targets_times_prefixes(patience, monkeypatch):
    monkeypatch.setattr(solver, "BATCH", 3)
    masks, margins, _ = problem(4, 500, 30, 8, noise=2.0)
    margins[:, 2] = 1.0
    steps = []
    fit_lasso_prefixes(masks, margins, ENDS, n_lambdas=12, patience=patience, progress=steps.append)
    assert sum(steps) == pytest.approx(8 * 4)
    assert min(steps) > 0
