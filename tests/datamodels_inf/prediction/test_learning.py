"""How much later rows are worth: against learning curves of simulated truths."""

import itertools

import numpy as np
import pytest

from datamodels_inf import fit_lasso_prefixes
from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.masks import PackedMasks
from datamodels_inf.prediction import ImageEvidence
from datamodels_inf.prediction.learning import attainable_r2, r2_of_fit, rows_to_come

D, ROWS, TARGETS, SIGNAL = 120, 4000, 10, 0.6
ENDS = (240, 700, 1500, 2600)


def simulated(share, seed=0):
    rng = np.random.default_rng(seed)
    masks = rng.permuted(np.tile(np.arange(D) < D // 2, (ROWS, 1)), axis=1)
    theta = np.where(rng.random((D, TARGETS)) < share, rng.normal(size=(D, TARGETS)), 0.0)
    y = masks @ theta
    y = np.sqrt(SIGNAL) * (y - y.mean(axis=0)) / y.std(axis=0)
    return PackedMasks.from_bool(masks), y + np.sqrt(1.0 - SIGNAL) * rng.normal(size=y.shape)


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_rows_to_come_are_worth_what_is_expected(share):
    masks, y = simulated(share)
    datamodels = fit_lasso_prefixes(masks, y, ENDS)
    bounds = [*ENDS, ROWS]
    maker = AtlasMaker(masks.rows(0, ENDS[0]), tails=False)
    tile = maker.tile(range(TARGETS), y[: ENDS[0]], [datamodels[0]])
    evidence = ImageEvidence.of(tile, datamodels[0], maker.law, fitted=True)
    variance = np.var(y[: ENDS[0]], axis=0)
    first = r2_of_fit(evidence.standard_error, ENDS[0], maker.law.kappa, variance)
    attainable = attainable_r2(evidence.estimate, evidence.standard_error, maker.law.kappa, variance)
    noise = [
        np.mean((y[a:b] - datamodel.predict(masks.rows(a, b))) ** 2)
        for (a, b), datamodel in zip(itertools.pairwise(bounds), datamodels, strict=True)
    ]
    sizes = np.diff(bounds)
    assert first == pytest.approx(1.0 - noise[0], abs=0.08)
    assert attainable == pytest.approx(SIGNAL, abs=0.1)
    expected = rows_to_come(ENDS, sizes.tolist(), first, attainable, D)
    assert expected == pytest.approx(float(np.sum(sizes * noise[0] / np.array(noise))), rel=0.15)


def test_without_anything_to_learn_a_row_is_a_row():
    assert rows_to_come((100, 500), (400, 500), 0.3, 0.3, 50) == pytest.approx(900)
    assert rows_to_come((100, 500), (400, 500), 0.3, 0.1, 50) == pytest.approx(900)
    assert rows_to_come((100, 500), (0, 500), 0.0, 0.9, 50) > 500


def test_no_variance_or_nothing_known_is_no_r2():
    estimate, error = np.ones((2, 5)), np.full((2, 5), np.inf)
    assert attainable_r2(estimate, error, 0.25, np.ones(2)) == 0.0
    assert attainable_r2(estimate, 0.0 * estimate, 0.25, np.zeros(2)) == 0.0
    assert r2_of_fit(error, 10, 0.25, np.ones(2)) == 0.0
    assert attainable_r2(9.0 * estimate, 0.0 * estimate, 0.25, np.ones(2)) == 0.95
