"""How images are named: by number, by a name of their own, or by class and position."""

import pytest
from named_images import LABELS, TARGETS, TRAIN

from pipeline.images.item_names import ItemNames
from pipeline.stages.test.image_references import ImageFinder


@pytest.mark.parametrize(("text", "numbers"), [
    ("12", [12]),
    (" 0 ", [0]),
    ("dog:0", [1]),
    ("dog:4", [17]),
    ("7:1", [7]),
    ("great white shark:2", [10]),
    ("12 17 dog:3", [12, 17, 13]),
    ("7:1 7 great white shark:0 0", [7, 7, 2, 0]),
])  # fmt: skip
def test_images_by_number_and_by_class_and_position(text, numbers):
    assert TRAIN.find(text) == numbers


@pytest.mark.parametrize(("text", "sentence"), [
    ("", "'' is not an image"),
    ("  ", "is not an image"),
    ("-1", "'-1' is not an image"),
    ("1.5", "is not an image"),
    ("dog", "'dog' is not an image"),
    ("dog:", "is not an image"),
    (":3", "is not an image"),
    ("3 dog", "is not an image"),
    ("1,2", "is not an image"),
    ("20", "there is no training image 20: they go from 0 to 19"),
    ("99999999999999999999999", "there is no training image"),
    ("9" * 3000, "there is no training image 9{59}…: they go from 0 to 19"),
    (f"dog:{'9' * 3000}", "class dog has 5 training images, so there is no dog:9{55}…"),
    ("yak:0", "'yak' is no class of this data; there are cat, dog"),
    ("dog:5", "class dog has 5 training images, so there is no dog:5"),
])  # fmt: skip
def test_what_is_no_image(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        TRAIN.find(text)


def test_without_labels_numbers_do():
    finder = ImageFinder.of_train(20, None)
    assert finder.find("3 19") == [3, 19]
    with pytest.raises(ValueError, match="the source has no labels"):
        finder.find("dog:0")
    assert TARGETS.find("dog:1") == [4]


def test_images_by_a_name_of_their_own():
    names = ItemNames(train=("bmi", "blood pressure", "blood", "7", "dog:0", "twice", "twice"), targets=("progress",))
    finder = ImageFinder.of_train(7, None, names)
    assert finder.find("bmi") == [0] and finder.find(" blood pressure ") == [1] and finder.find("blood") == [2]
    assert finder.find("bmi blood pressure 3 blood") == [0, 1, 3, 2]
    assert finder.find("dog:0") == [4] and finder.find_one("6") == 6  # A number is a number, also where a name is one.
    assert ImageFinder.of_targets(1, None, names).find("progress") == [0]
    with pytest.raises(ValueError, match="there is no training image 7: they go from 0 to 6"):
        finder.find("7")
    with pytest.raises(ValueError, match="2 training images are called 'twice'; give the number: 5, 6"):
        finder.find("twice")
    with pytest.raises(ValueError, match=r"'pressure' is not an image: .*, or a name such as bmi"):
        finder.find("pressure")


def test_names_and_classes_go_together():
    finder = ImageFinder.of_train(20, LABELS, ItemNames(train=tuple(f"image {k}" for k in range(20))))
    assert finder.find("image 3 dog:0 image 13") == [3, 1, 13]


def test_one_image_means_one():
    assert TRAIN.find_one("dog:1") == 5
    with pytest.raises(ValueError, match="'5 dog:1' must be one training image, but it names 2"):
        TRAIN.find_one("5 dog:1")


def test_targets_by_a_name_of_their_own():
    names = ItemNames(targets=("bmi", "7", "blood pressure", "bmi 2", "bmi 2"))
    finder = ImageFinder.of_targets(5, None, names)
    assert [finder.find_one(text) for text in ("bmi", "blood pressure", "3")] == [0, 2, 3]
    with pytest.raises(ValueError, match="there is no target 7"):  # A number, though something is called so.
        finder.find_one("7")
    with pytest.raises(ValueError, match="2 targets are called 'bmi 2'; give the number: 3, 4"):
        finder.find_one("bmi 2")
    with pytest.raises(ValueError, match="'age' is not an image"):
        finder.find_one("age")
