"""Models as units: masks are drawn where they are trained, place and order change nothing, divergence is a sentence."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from trained_here import margins_of, one_thread

from datamodels_inf.internal.cores import available_cores, blas_threads
from datamodels_inf.training.draws import draw_masks
from datamodels_inf.training.recipe import Recipe
from pipeline.errors import BadInputError
from pipeline.images.image_set import load_digits
from pipeline.places.processes import Processes
from pipeline.training.inputs import Inputs, images_digest
from pipeline.training.job import Job
from pipeline.training.work import CoupledModels, Models, Training

__all__ = ["one_thread"]

IMAGES = load_digits(40, 20)
JOB = Job("digits", 40, 20, images_digest(IMAGES), 70, Recipe(hidden=4, steps=5), 5, 0.5, "fixed-size")


@pytest.fixture
def training(tmp_path):
    IMAGES.save(tmp_path / "images.npz")
    return Training(JOB, tmp_path / "images.npz")


def alone(unit, recipe=JOB.recipe):
    return margins_of(replace(JOB, recipe=recipe), Inputs.of_pixels(IMAGES), unit)


def test_processes_and_their_order_change_nothing(one_thread, training):
    units = [Models(5, first, first + 10) for first in (60, 10, 35, 0)]
    found = dict(Processes(2).done(training, units, lambda steps: None))
    assert set(found) == set(units)
    for unit, arrays in found.items():
        assert arrays["margins"].shape == (10, 20)
        np.testing.assert_array_equal(arrays["margins"], alone(unit))


@pytest.mark.skipif(available_cores() < 2, reason="one core has one thread")
def test_bits_are_those_of_one_thread_whatever_a_worker_may_use(training):
    """A worker of several threads limits BLAS and OpenMP to as many around every unit."""
    convnet = replace(JOB, recipe=Recipe("convnet", hidden=16, steps=5, learning_rate=0.003, batch_size=64))
    trainer, unit, found = replace(training, job=convnet).open(2), Models(5, 0, 4), []
    for threads in (1, 2):
        with blas_threads(threads):
            found.append(trainer(unit, lambda step: None)["margins"])
    np.testing.assert_array_equal(*found)


def test_masks_are_drawn_from_the_seed_and_the_number():
    np.testing.assert_array_equal(Models(5, 30, 40).masks(JOB), draw_masks(40, 0, 70, seed=5)[30:40])
    few = replace(JOB, proportion=0.25, law="bernoulli")
    expected = draw_masks(40, 3, 9, seed=5, proportion=0.25, law="bernoulli")
    np.testing.assert_array_equal(Models(5, 3, 9).masks(few), expected)


def test_two_sides_of_a_couple_differ_in_their_groups_alone():
    sides = [CoupledModels(5, 0, 30, (3, 4), (9, 11), side).masks(JOB) for side in (0, 1)]
    for mask, inside, outside in ((sides[0], [3, 4], [9, 11]), (sides[1], [9, 11], [3, 4])):
        assert mask[:, inside].all() and not mask[:, outside].any()
    np.testing.assert_array_equal(*(np.delete(mask, [3, 4, 9, 11], axis=1) for mask in sides))


def test_models_of_one_seed_and_number_start_from_the_same_weights(one_thread):
    """With a rate too small to move anything, margins show the weights alone; with a usual one, the masks as well."""
    still = replace(JOB.recipe, steps=1, learning_rate=1e-30)
    some, others = (CoupledModels(5, 7, 17, (3,), (9,), side) for side in (0, 1))
    np.testing.assert_allclose(alone(some, still), alone(others, still), rtol=0, atol=1e-20)
    assert not np.allclose(alone(some), alone(others))
    for other in (replace(some, seed=6), replace(some, first=8, stop=18)):
        assert not np.allclose(alone(other, still), alone(some, still))


def test_a_training_that_diverges_is_a_sentence(training):
    wild = replace(training, job=replace(JOB, recipe=Recipe(hidden=4, steps=60, learning_rate=1e30)))
    with pytest.raises(BadInputError, match="the training diverged") as caught:
        list(Processes(1).done(wild, [Models(5, 0, 10), Models(5, 10, 20)], lambda steps: None))
    assert "\n" not in str(caught.value)


def test_what_travels_is_small_and_has_no_masks(training):
    large = replace(training, job=replace(JOB, n_train=50_000))
    assert len(pickle.dumps((large, Models(5, 0, 512)))) < 2_000
    assert (training.size(Models(5, 100, 612)), pickle.loads(pickle.dumps(training))) == (512, training)
