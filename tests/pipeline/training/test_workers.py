"""Batches in worker processes: their number and order change nothing, few are under way, divergence is a sentence."""

import multiprocessing
from dataclasses import replace

import numpy as np
import pytest
import torch
from small_cifar10 import wait_for

from datamodels_inf.training.draws import draw_masks
from datamodels_inf.training.recipe import Recipe
from pipeline.errors import BadInputError
from pipeline.images.image_set import load_digits
from pipeline.training.inputs import Inputs
from pipeline.training.workers import IN_FLIGHT, Batch, train_batch, train_batches

RECIPE = Recipe(hidden=4, steps=5)
MASKS = draw_masks(40, 0, 70, seed=5)


@pytest.fixture
def one_thread():
    """As workers have it: the same bits need the same number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def inputs():
    return Inputs.of_pixels(load_digits(40, 20))


def batches(*firsts, seed=5):
    return [Batch.of(first, seed, first, MASKS[first : first + 10]) for first in firsts]


def alone(batch, recipe=RECIPE):
    return train_batch(inputs(), recipe, batch)


def test_workers_and_their_order_change_nothing(one_thread):
    firsts = (0, 35, 10, 60)
    expected = {batch.key: alone(batch) for batch in batches(*firsts)}
    assert expected[0].shape == (10, 20)
    found = dict(train_batches(inputs(), RECIPE, batches(*firsts[::-1]), 2))
    assert set(found) == set(firsts)
    for key, margins in found.items():
        np.testing.assert_array_equal(margins, expected[key])


def test_two_batches_of_the_same_seed_and_first_model_start_from_the_same_weights(one_thread):
    """With a rate too small to move anything, margins show the weights alone; with a usual one, the masks as well."""
    still = replace(RECIPE, steps=1, learning_rate=1e-30)
    some, others = (Batch.of(0, 5, 7, MASKS[start : start + 10]) for start in (0, 30))
    np.testing.assert_allclose(alone(some, still), alone(others, still), rtol=0, atol=1e-20)
    assert not np.allclose(alone(some), alone(others))
    for other in (replace(some, seed=6), replace(some, first=8)):
        assert not np.allclose(alone(other, still), alone(some, still))


def test_few_batches_are_under_way():
    """A generator of batches may be longer than memory: it is asked for more only as results are taken."""
    asked = []

    def endless():
        for number in range(10**9):
            asked.append(number)
            yield Batch.of(number, 5, number % 60, MASKS[:2])

    results = train_batches(inputs(), RECIPE, endless(), 1)
    taken = []
    for _ in range(8):
        taken.append(next(results)[0])
        assert (
            len(asked) <= len(taken) + 2 * IN_FLIGHT
        )  # some finished at once and not yet taken, others in their place
    results.close()
    assert len(set(taken)) == 8
    assert set(taken) <= set(asked)
    wait_for(lambda: not multiprocessing.active_children())


def test_no_batch_starts_no_worker():
    assert list(train_batches(inputs(), RECIPE, iter(()), 2)) == []


def test_a_training_that_diverges_is_a_sentence():
    wild = Recipe(hidden=4, steps=60, learning_rate=1e30)
    with pytest.raises(BadInputError, match="the training diverged") as caught:
        list(train_batches(inputs(), wild, batches(0, 10), 1))
    assert "\n" not in str(caught.value)
    wait_for(lambda: not multiprocessing.active_children())


def test_masks_travel_as_bits():
    batch = Batch.of(3, 5, 0, MASKS)
    assert (batch.key, batch.masks.dtype, batch.masks.shape) == (3, np.uint8, (70, 5))
    np.testing.assert_array_equal(np.unpackbits(batch.masks, axis=1, count=40).astype(bool), MASKS)
