"""Margins as a set keeps them: float16, or whole multiples of a step within half a step of what was computed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from small_cifar10 import refusal
from trained_here import margins_of, one_torch_thread

from datamodels_inf.masks import PackedMasks
from datamodels_inf.training.draws import draw_masks
from datamodels_inf.training.recipe import Recipe
from pipeline.images.image_set import load_digits
from pipeline.places.processes import Processes
from pipeline.training.inputs import Inputs, images_digest
from pipeline.training.job import Job
from pipeline.training.made_set import kept_margins, train_source
from pipeline.training.supplies import Images
from pipeline.training.work import Models

IMAGES = load_digits(40, 20)
JOB = Job("digits", 40, 20, images_digest(IMAGES), 12, Recipe(hidden=4, steps=5), 3, 0.5, "fixed-size")


@pytest.fixture(scope="module")
def computed():
    """The float32 margins of the job."""
    with one_torch_thread():
        return margins_of(JOB, Inputs.of_pixels(IMAGES), Models(3, 0, 12))


def made(out, job):
    return train_source(Images(job, IMAGES), out, Processes(1), True)


@pytest.mark.parametrize(("step", "kind"), [(0.1, np.int8), (0.001, np.int16), (None, np.float16)])
def test_kept_margins_are_close_to_those_computed(tmp_path, computed, step, kind):
    job = replace(JOB, margin_step=step)
    out = made(tmp_path / "set", job)
    kept = np.load(out / "margins.npy") if step is None else np.load(out / "margins.npz")["multiples"].T
    assert kept.dtype == kind
    assert np.abs(computed).max() / 0.001 > 127
    if step is None:
        np.testing.assert_array_equal(kept, computed.astype(np.float16))
    else:
        error = np.abs(kept * step - computed.astype(float))
        assert error.max() <= step / 2 * (1 + 1e-5)
        assert error.max() > step / 4
    masks = PackedMasks(np.load(out / "masks.npy"), 40).to_bool()
    np.testing.assert_array_equal(masks, draw_masks(40, 0, 12, seed=3))
    assert Job.of_json(json.loads((out / "manifest.json").read_text())["job"]) == job


def test_a_step_too_fine_for_the_margins_is_refused():
    margins = np.array([[3.0, -400.0]], np.float32)
    assert kept_margins(replace(JOB, margin_step=0.1), margins).tolist() == [[30, -4000]]
    assert "margins are too large for train.margin_step = 0.01; raise it" in refusal(
        kept_margins, replace(JOB, margin_step=0.01), margins
    )


def test_margins_beyond_float16_are_refused():
    assert "the training diverged" in refusal(kept_margins, JOB, np.array([[1e6]], np.float32))


def test_a_set_of_another_job_is_left_alone(tmp_path):
    out = made(tmp_path / "set", JOB)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for change in ({"margin_step": 0.1}, {"n_models": 13}, {"recipe": Recipe(hidden=5, steps=5)}):
        sentence = refusal(made, out, replace(JOB, **change))
        assert "holds a set made with other settings" in sentence
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
