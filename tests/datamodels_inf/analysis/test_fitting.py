"""Datamodels of the rows that may be fitted, or those that are given, in the coding that predicts."""

import numpy as np
import pytest
from simulated_models import simulated

from datamodels_inf import analyse, fit_lasso
from datamodels_inf.analysis.division import Division
from datamodels_inf.analysis.fitting import fit_here
from datamodels_inf.analysis.inputs import Data

THETA = np.zeros((30, 2))
THETA[3], THETA[8] = 1.0, -1.0


def given(masks, outcomes):
    return Data.of(masks, outcomes, n_train=None, labels=None, names=None, images=None)


def test_the_fit_sees_no_row_that_it_may_not():
    masks, outcomes = simulated()
    data = given(masks, outcomes)
    division = Division(200, ((300, 600),))
    fitted = fit_here(data, np.array([1]), division, {"threads": 1}, lambda step: None)
    expected = fit_lasso(masks[:200], outcomes[:200, [1]])
    assert (fitted.datamodel.weight == expected.weight).all() and (fitted.datamodel.bias == expected.bias).all()
    assert fitted.gap.shape == (1,) and fitted.gap.max() <= 1e-6 and fitted.n_at_end in (0, 1)


def test_each_block_has_the_fit_of_all_rows_before_it():
    masks, outcomes = simulated()
    changed = outcomes.copy()
    changed[400:] += 5.0 * masks[400:, [20]]
    options = {"rows": "progressive", "first_rows": 200, "blocks": 2, "method": "contrast", "k": 2}
    one, other = (analyse(masks, y, **options) for y in (outcomes, changed))
    (first, second), (same, moved) = one.fitted.datamodels, other.fitted.datamodels
    end = one.division.ends[1]
    assert one.division.ends[0] == 200 and 200 < end < 400
    assert (first.weight == same.weight).all()
    assert (second.weight == moved.weight).all()  # Its rows end before those that changed.
    assert (first.weight != second.weight).any()


@pytest.mark.parametrize("coding", ("mask", "signed"))
def test_weights_in_either_coding_give_the_same_datamodel(coding):
    masks, outcomes = simulated()
    weight, bias = (THETA, 0.0) if coding == "mask" else (THETA / 2, THETA.sum(axis=0) / 2)
    result = analyse(masks, outcomes, weight, bias=bias, k=2)
    assert result.fitted.coding.coding == coding and not result.fitted_here
    assert np.allclose(result.fitted.datamodel.weight, THETA) and np.allclose(result.fitted.datamodel.bias, 0.0)
    assert analyse(masks, outcomes, weight.T, bias=bias, k=2).tests().equals(result.tests())


def test_scores_on_another_scale_are_refused_or_calibrated():
    masks, outcomes = simulated()
    with pytest.raises(ValueError, match=r"`theta` does not fit these outcomes: .*calibrate=True"):
        analyse(masks, outcomes, -100.0 * THETA, k=2)
    result = analyse(masks, outcomes, -100.0 * THETA, calibrate=True, k=2)
    assert np.allclose(result.fitted.datamodel.weight[[3, 8]], [[1, 1], [-1, -1]], atol=0.2)
    assert analyse(masks, outcomes, 0 * THETA, calibrate=True, k=2).fitted.n_constant == 2


@pytest.mark.parametrize(
    ("options", "words"),
    (
        ({"calibrate": True}, "`calibrate` and `bias` are for `theta`"),
        ({"bias": 1.0}, "`calibrate` and `bias` are for `theta`"),
        ({"theta": THETA, "rows": "progressive"}, "may have seen any row"),
        ({"theta": THETA[:5]}, "`theta` must have shape \\(30, 2\\)"),
    ),
)
def test_weights_that_make_no_sense_are_refused(options, words):
    masks, outcomes = simulated(n=100)
    with pytest.raises(ValueError, match=words):
        analyse(masks, outcomes, **options)
