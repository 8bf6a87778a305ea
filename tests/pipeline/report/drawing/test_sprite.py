"""Many images in one picture: each at its square, and never more than the page may hold."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from report_content import make_images

from pipeline.report.content import Images
from pipeline.report.drawing.sprite import COLUMNS, SIDE, sprite_of


def opened(sprite):
    head, _, data = sprite.uri.partition(",")
    return head, np.asarray(Image.open(BytesIO(base64.b64decode(data))))


def cut(pixels, sprite, place):
    row, column = divmod(sprite.places[place], COLUMNS)
    return pixels[row * sprite.side :, column * sprite.side :][: sprite.side, : sprite.side]


@pytest.mark.parametrize("shape", [(8, 8), (32, 32, 3)])
def test_every_image_is_at_its_square_without_loss(shape):
    images = make_images(shape)
    wanted = [("train", 3), ("target", 3), ("train", 3), *(("train", k) for k in range(12))]
    sprite = sprite_of(images, wanted)
    head, pixels = opened(sprite)
    assert head == "data:image/png;base64"
    assert len(sprite.places) == 13
    for (part, index), _ in sprite.places.items():
        expected = (images.train if part == "train" else images.targets)[index]
        assert (cut(pixels, sprite, (part, index)) == expected).all()
    assert sprite.square(("target", 3)) == "1"
    assert sprite.square(("target", 4)) == "-"


def test_more_images_than_a_row_and_large_ones_are_reduced():
    large = np.random.default_rng(0).integers(0, 256, (70, 100, 60), dtype=np.uint8)
    sprite = sprite_of(Images(large, large[:2]), [("train", k) for k in range(70)])
    _, pixels = opened(sprite)
    assert (sprite.side, pixels.shape) == (SIDE, (3 * SIDE, COLUMNS * SIDE))


def test_what_is_too_long_loses_detail_first_and_images_last():
    noise = np.random.default_rng(0).integers(0, 256, (400, 32, 32, 3), dtype=np.uint8)
    smooth = np.repeat(np.repeat(noise[:, :4, :4], 8, axis=1), 8, axis=2)
    images = Images(noise, smooth)
    wanted = [("train", k) for k in range(400)]
    all_of_them = sprite_of(images, wanted)
    assert opened(all_of_them)[0] == "data:image/jpeg;base64"
    assert len(all_of_them.uri) <= 1_000_000
    assert len(all_of_them.places) == 400
    fewer = sprite_of(images, wanted, most=200_000)
    assert len(fewer.uri) <= 200_000
    assert list(fewer.places) == wanted[: len(fewer.places)]
    assert 50 < len(fewer.places) < 400
    assert sprite_of(images, wanted, most=10) is None


def test_without_images_there_is_none():
    assert sprite_of(None, [("train", 0)]) is None
    assert sprite_of(make_images(), []) is None
