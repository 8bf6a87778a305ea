"""Rows made on the fly: what is read twice is the same, masks are uniform of their size, margins follow the law."""

import numpy as np
import pytest
from released_law import MEAN, NOISE, Law, Sizes

SIZES = Sizes(models=3000, held_out=1000, images=200, targets=30, groups=8)


@pytest.fixture(scope="module")
def law():
    return Law(SIZES)


@pytest.mark.parametrize("name", ("masks", "margins", "weights"))
def test_any_rows_are_those_of_the_whole(law, name):
    make = getattr(law, name)
    whole = make(0, 200)
    for first, last in ((0, 1), (7, 9), (63, 200), (199, 200), (5, 5)):
        np.testing.assert_array_equal(make(first, last), whole[first:last])
    other = getattr(Law(Sizes(**{**SIZES.as_dict(), "seed": 22})), name)(0, 200)
    assert not np.array_equal(other, whole)


def test_masks_have_half_of_the_images_and_no_image_or_pair_is_favoured(law):
    masks = law.masks(0, SIZES.models)
    assert set(np.unique(masks)) == {0, 1}
    assert (masks.sum(axis=1) == SIZES.images // 2).all()
    z = (masks.mean(axis=0) - 0.5) / np.sqrt(0.25 / SIZES.models)
    assert np.abs(z).max() < 4.5
    both = np.corrcoef(masks.T.astype(float))[np.triu_indices(SIZES.images, 1)]
    z = (both + 1 / (SIZES.images - 1)) * np.sqrt(SIZES.models)  # Of a fixed size, they avoid each other a little.
    assert np.abs(z).max() < 5.5
    assert abs(z.mean()) < 0.1
    assert len(np.unique(np.packbits(masks, axis=1), axis=0)) == SIZES.models


def test_margins_are_the_sum_of_the_effects_and_noise(law):
    masks, margins = law.masks(0, SIZES.models), law.margins(0, SIZES.models).astype(float)
    images = np.arange(SIZES.images)
    theta = np.stack([law.effect(images, np.full(SIZES.images, k), np.full(SIZES.images, 3)) for k in (0, 1)])
    own = law.strength[0] * law.looks[law.group[0], 3]
    np.testing.assert_allclose(theta[0] - theta[1], theta[0][1] - theta[0][0])
    noise = margins[:, 3] - MEAN - masks @ (theta[0] + own)
    assert abs(noise.mean()) < 5 * NOISE / np.sqrt(SIZES.models)
    assert noise.std() == pytest.approx(NOISE, rel=0.06)
    assert 0.02 < (law.strength[:, None] * law.looks[law.group] != 0).mean() < 0.12


def test_the_weights_of_the_file_predict_in_signs_and_are_wrong_on_some_images(law):
    masks, margins = law.masks(0, SIZES.models), law.margins(0, SIZES.models).astype(float)
    weight = law.weights(0, SIZES.images)
    by_signs = (2.0 * masks - 1) @ weight + law.bias
    by_masks = masks @ weight + law.bias
    errors = [((margins - f) ** 2).mean() for f in (by_signs, by_masks, margins.mean(axis=0))]
    assert errors[0] < errors[2] < errors[1] or errors[0] < errors[1]
    assert errors[0] < 0.95 * errors[2]
    true = law.strength[:, None] * law.looks[law.group]
    assert ((weight != 0) & (true == 0)).any()


def test_columns_must_come_in_eights():
    with pytest.raises(ValueError, match="`images` must be a multiple of 8, but it is 12"):
        Sizes(images=12)
