"""What is drawn for a model: masks of the law that was asked for, from the seed and the number of the model alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from datamodels_inf.training.draws import Law, draw_masks, model_seed


def test_masks_of_fixed_size_have_equal_sizes_and_uniform_columns() -> None:
    masks = draw_masks(50, 0, 4000, seed=0, proportion=0.3)
    assert masks.shape == (4000, 50)
    assert masks.dtype == np.bool_
    assert (masks.sum(axis=1) == 15).all()
    assert np.abs(masks.mean(axis=0) - 0.3).max() < 4.5 * math.sqrt(0.21 / 4000)
    both = (masks[:, :1] & masks[:, 1:]).mean(axis=0)  # P(two images are in) = 15 * 14 / (50 * 49)
    assert np.abs(both - 15 * 14 / (50 * 49)).max() < 4.5 * math.sqrt(0.0857 * 0.9143 / 4000)


def test_bernoulli_masks_have_binomial_sizes() -> None:
    masks = draw_masks(50, 0, 4000, seed=0, proportion=0.3, law="bernoulli")
    sizes = masks.sum(axis=1)
    assert abs(sizes.mean() - 15) < 4.5 * math.sqrt(10.5 / 4000)
    assert abs(sizes.var() / 10.5 - 1) < 0.12
    assert np.abs(masks.mean(axis=0) - 0.3).max() < 4.5 * math.sqrt(0.21 / 4000)


@pytest.mark.parametrize("law", ["fixed-size", "bernoulli"])
def test_masks_depend_on_seed_and_index_only(law: Law) -> None:
    masks = draw_masks(60, 0, 20, seed=5, law=law)
    np.testing.assert_array_equal(draw_masks(60, 13, 17, seed=5, law=law), masks[13:17])
    assert len(np.unique(np.vstack([masks, draw_masks(60, 0, 20, seed=6, law=law)]), axis=0)) == 40
    assert draw_masks(60, 4, 4, seed=5, law=law).shape == (0, 60)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"proportion": 0.0}, "`proportion` must lie strictly between 0 and 1"),
        ({"proportion": 1.0}, "`proportion` must lie strictly between 0 and 1"),
        ({"proportion": math.nan}, "`proportion` must lie strictly between 0 and 1"),
        ({"law": "poisson"}, "`law` must be one of fixed-size, bernoulli"),
        ({"first": 3}, "`first` must be at least 0 and at most `last`"),
        ({"n_train": 0}, "`n_train` must be at least 1"),
        ({"seed": 2**64}, "`seed` must be a whole number from 0"),
    ],
)
def test_bad_mask_input_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        draw_masks(**({"n_train": 10, "first": 0, "last": 2, "seed": 0} | changes))


def test_no_two_models_of_a_seed_share_theirs_and_numpy_takes_them() -> None:
    seeds = [model_seed(3, model) for model in range(200_000)]
    assert len(set(seeds)) == 200_000
    assert min(seeds) >= 0 and max(seeds) < 2**32
    np.random.RandomState(max(seeds))
    assert len({model_seed(3, 2**32 - 1), model_seed(3, 2**31), *seeds[:100]}) == 102
    counts = np.bincount(np.array(seeds) >> 24, minlength=256)  # Spread like random numbers.
    assert ((counts - 781.25) ** 2 / 781.25).sum() < 255 + 5 * math.sqrt(510)


def test_models_of_other_seeds_share_theirs_as_rarely_as_random_numbers() -> None:
    """Those of 10,000 models of two seeds: 0.02 are expected in common."""
    first, second = ({model_seed(seed, model) for model in range(10_000)} for seed in (3, 4))
    assert len(first & second) <= 2
    assert model_seed(3, 7) == model_seed(3, 7) != model_seed(2**64 - 1, 7)


@pytest.mark.parametrize("model", (-1, 2**32))
def test_a_number_that_no_model_has_is_refused(model: int) -> None:
    with pytest.raises(ValueError, match="`model` must be a whole number"):
        model_seed(0, model)
