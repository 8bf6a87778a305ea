"""Pictures as URIs: the pixels survive, large ones are reduced, and there is an end to them."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from datamodels_inf.analysis.pictures import MOST_BYTES, PIXELS, Pictures, data_uri


def opened(uri):
    return np.asarray(Image.open(BytesIO(base64.b64decode(uri.partition(",")[2]))))


@pytest.mark.parametrize("shape", ((8, 8), (5, 9, 3)))
def test_small_pictures_keep_their_pixels(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    assert (opened(data_uri(pixels)) == pixels).all()


def test_large_pictures_are_reduced():
    assert opened(data_uri(np.full((300, 150, 3), 7, np.uint8))).shape == (PIXELS, PIXELS // 2, 3)


def test_each_is_made_once_and_not_too_many():
    images = np.random.default_rng(0).integers(0, 256, (200, 32, 32, 3)).astype(np.uint8)
    pictures = Pictures((images, None))
    assert pictures.uri("target", 0) is None
    assert pictures.uri("train", 3) is pictures.uri("train", 3)
    made = [pictures.uri("train", k) for k in range(200)]
    assert None in made and sum(len(uri) for uri in made if uri) <= MOST_BYTES
    assert pictures.uri("train", 3) is not None
