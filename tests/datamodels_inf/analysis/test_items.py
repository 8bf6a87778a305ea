"""Classes, names and pictures of training images and of targets, each of them optional."""

import numpy as np
import pytest

from datamodels_inf.analysis.items import Items


def test_nothing_is_needed():
    items = Items.of(3, 2)
    assert (items.class_of("train", 1), items.name_of("target", 0), items.train_labels) == ("", "", None)
    assert (items.called("train", 1), items.called("target", 0)) == ("item 1", "target 0")


def test_classes_of_both_parts_share_their_numbers():
    items = Items.of(3, 2, labels=(["dog", "cat", "dog"], ["truck", "cat"]))
    assert items.class_names == ("cat", "dog", "truck")
    assert items.train_labels.tolist() == [1, 0, 1]
    assert [items.class_of("target", k) for k in range(2)] == ["truck", "cat"]
    assert items.called("train", 0) == "this dog (train 0)"


def test_numbers_are_classes_in_their_order():
    items = Items.of(3, 2, labels=np.array([10, 2, 10]))
    assert items.class_names == ("2", "10")
    assert items.train_labels.tolist() == [1, 0, 1]
    assert items.class_of("target", 0) == ""


@pytest.mark.parametrize("given", ((None, ["x", "y"]), {"targets": ["x", "y"]}))
def test_targets_alone_may_have_names(given):
    items = Items.of(3, 2, names=given)
    assert items.names == (None, ("x", "y"))
    assert items.find("target", "y") == 1
    assert items.called("target", 0) == "x"


def test_pictures_become_bytes():
    grey, colour = np.zeros((3, 4, 4), np.uint8), np.full((2, 4, 4, 3), 0.5)
    items = Items.of(3, 2, images=(grey, colour))
    assert items.images[0] is grey
    assert items.images[1].dtype == np.uint8 and items.images[1][0, 0, 0, 0] == 128
    assert Items.of(3, 2, images=grey[..., None]).images[0].shape == (3, 4, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    (
        ({"labels": [1, 2]}, "`labels` of the training images must be 3"),
        ({"labels": (None, [0.5, 1.0])}, "`labels` of the targets must be 2"),
        ({"labels": ["a", None, "b"]}, "must be known of all of them"),
        ({"names": ["a", "b"]}, "`names` of the training images must be 3 texts, but there are 2"),
        ({"names": {"test": ["a"]}}, 'the keys "train" and "targets"'),
        ({"images": np.zeros((3, 4), np.uint8)}, "`images` of the training images must have shape"),
        ({"images": np.full((3, 4, 4), 7.0)}, "floats from 0 to 1, but they are float64 from 7 to 7"),
    ),
)
def test_bad_items(given, words):
    with pytest.raises(ValueError, match=words):
        Items.of(3, 2, **given)


@pytest.mark.parametrize("item", (3, -1, True, 1.5, None))
def test_items_that_are_not_there(item):
    with pytest.raises(ValueError, match=r"there is no training item .*: they go from 0 to 2"):
        Items.of(3, 2).find("train", item)
