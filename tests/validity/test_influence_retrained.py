"""The atlas of the embedded digits against models that are trained anew: other seeds, other masks, the same images."""

import json

import numpy as np
import pytest
from long_runs import times
from trained_here import margins_of, one_torch_thread

from datamodels_inf import Datamodel, PackedMasks, influence_atlas
from pipeline.images.image_set import load_digits
from pipeline.sources.embedded import FOLDER
from pipeline.training.inputs import Inputs
from pipeline.training.job import Job
from pipeline.training.work import Models

SEED = 20_241_117
FRESH = times(3_000, 20_000)


@pytest.fixture(scope="module")
def shipped():
    """(masks, margins) of the embedded set: the fit rows, then the tested ones."""
    masks = PackedMasks(np.load(FOLDER / "masks.npy"), 400).to_bool()
    margins = np.load(FOLDER / "margins.npy").astype(float)
    return (masks[:8000], margins[:8000]), (masks[8000:], margins[8000:])


@pytest.fixture(scope="module")
def truth():
    """(difference of means, its standard error), (targets, images), of freshly trained models."""
    job = Job.of_json(json.loads((FOLDER / "manifest.json").read_text())["job"])
    unit = Models(SEED, 0, FRESH)
    inputs = Inputs.of_pixels(load_digits(job.n_train, job.n_targets))
    with one_torch_thread():
        x, y = unit.masks(job), margins_of(job, inputs, unit).astype(float)
    (a, mean_a, var_a), (b, mean_b, var_b) = moments(x, y), moments(~x, y)
    return mean_a - mean_b, np.sqrt(var_a / a + var_b / b)


def moments(x, y):
    """(how many, mean, variance) of margins over the models of each column, (targets, images)."""
    count = x.sum(axis=0)
    mean = (y.T @ x) / count
    return count, mean, (y.T**2 @ x) / count - mean**2


def least_squares(masks, margins):
    """A θ̂ for each target: any will do."""
    design = np.column_stack([masks, np.ones(len(masks))]).astype(float)
    found = np.linalg.lstsq(design, margins, rcond=None)[0]
    return Datamodel(found[:-1], found[-1], np.full(margins.shape[1], np.nan))


def coverage(fitted, tested, truth):
    """How often the estimate and the truth differ by no more than their errors allow, 95 % of the time."""
    tiles = list(influence_atlas(*tested, fitted))
    estimate = np.concatenate([tile.estimate for tile in tiles])
    error = np.concatenate([tile.standard_error for tile in tiles])
    return np.mean(np.abs(estimate - truth[0]) <= 1.96 * np.hypot(error, truth[1]))


def test_estimates_agree_with_fresh_models(shipped, truth):
    fit, tested = shipped
    assert 0.94 <= coverage(least_squares(*fit), tested, truth) <= 0.96


def test_weights_of_the_tested_rows_do_not(shipped, truth):
    """And those of the fit rows, but without their own part, are seen as well."""
    fit, tested = shipped
    some = tested[0][:800], tested[1][:800]
    assert coverage(least_squares(*some), some, truth) < 0.93
    fitted = least_squares(*fit)
    own = fitted.weight - (fitted.weight.sum(axis=0) - fitted.weight) / (len(fitted.weight) - 1)
    assert coverage(fitted, tested, (truth[0] + own.T, truth[1])) < 0.9
