"""Weights, shapes and forecasts go through a file."""

import numpy as np
import pytest

from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.prediction import CountedFamily, evidence_cells, predict, without_prediction
from datamodels_inf.prediction.family import UNKNOWN
from pipeline.config import Test
from pipeline.stages.prior.files import prior_in_use, read_forecast, read_prior, write_prior
from pipeline.store.cache import Result


@pytest.fixture
def predicted():
    """(cells, made, prediction) of 300 tests, of which a third is not made."""
    rng = np.random.default_rng(1)
    z = 3.0 * rng.standard_normal(300) * (rng.random(300) < 0.3) + rng.standard_normal(300)
    cells, made = evidence_cells(z, np.ones(300), np.ones(300)), np.arange(300) % 3 > 0
    return cells, made, predict(CountedFamily.of(cells[made]), alpha=0.2)


def test_what_is_read_is_what_was_predicted(tmp_path, predicted):
    cells, made, found = predicted
    write_prior(tmp_path, "swap-exact", found, cells, made)
    result = Result(tmp_path, {})
    prior = read_prior(result, "swap-exact")
    np.testing.assert_array_equal(prior.weight[made], found.weights(cells[made]))
    assert (prior.weight[~made] == 0.0).all()
    assert prior.weight.sum() == pytest.approx(200.0)
    assert (prior.shape.m, prior.shape.by_share) == (200, found.shape.by_share)
    np.testing.assert_array_equal(prior.shape.beta(np.arange(201)), found.shape.beta(np.arange(201)))
    u, expected = read_forecast(result, "swap-exact")
    np.testing.assert_array_equal([u, expected], [found.forecast.u, found.forecast.expected])


def test_without_a_prediction_there_is_no_forecast(tmp_path):
    cells, made = np.full(30, UNKNOWN), np.ones(30, np.bool_)
    write_prior(tmp_path, "paired", without_prediction(CountedFamily.of(cells), 0.2, "why"), cells, made)
    result = Result(tmp_path, {})
    assert [len(values) for values in read_forecast(result, "paired")] == [0, 0]
    assert read_prior(result, "paired").weight.tolist() == [1.0] * 30
    assert read_prior(result, "paired").shape.beta(30) == pytest.approx(30 / sum(1 / k for k in range(1, 31)))


def test_only_a_correction_that_needs_a_prior_reads_it(tmp_path, predicted):
    cells, made, found = predicted
    write_prior(tmp_path, "contrast", found, cells, made)
    for name, correction in CORRECTIONS.items():
        used = prior_in_use(Test(correction=name), Result(tmp_path, {}), "contrast")
        assert (used is not None) == correction.needs_prior
