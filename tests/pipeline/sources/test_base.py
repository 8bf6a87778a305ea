"""What tells images from others: their content, not their place."""

import numpy as np
import pytest

from pipeline.errors import BadInputError
from pipeline.sources import SOURCES
from pipeline.sources.base import content_of_images, contents


def test_the_content_of_images_follows_their_bytes_and_not_their_place(tmp_path):
    for name, value in (("a", 0), ("b", 0), ("c", 1)):
        np.savez(tmp_path / f"{name}.npz", images=np.full(3, value))
    a, b, c = (content_of_images(tmp_path / f"{name}.npz") for name in "abc")
    assert a == b != c
    assert content_of_images(None) is None


def test_images_that_are_not_there_are_named(tmp_path):
    with pytest.raises(BadInputError, match=r"nowhere\.npz does not exist; give a folder or file of images or labels"):
        content_of_images(tmp_path / "nowhere.npz")


def test_contents_are_of_files_that_are_there(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    assert list(contents([("a", tmp_path / "a.npy"), ("b", None)])) == ["content of a"]
    with pytest.raises(BadInputError, match=r"b\.npy does not exist; the source is not complete"):
        contents([("b", tmp_path / "b.npy")])


@pytest.mark.parametrize("kind", SOURCES.values(), ids=list(SOURCES))
def test_only_own_settings_are_left_out_of_the_key_and_each_with_a_reason(kind):
    assert set(kind.left_out) <= set(kind.settings)
    assert all(kind.left_out.values())
