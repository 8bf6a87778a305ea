"""Which images a study takes: the first of each class, in file order, against a loop."""

import numpy as np
import pytest
from small_cifar10 import refusal

from pipeline.images.choice import balanced, focused
from pipeline.images.image_set import Labels

NAMES = ("cat", "dog", "eel")
LABELS = np.random.default_rng(0).integers(0, 3, 90)


def first_of_each(labels, wanted):
    """One image after the other."""
    taken, found = [0, 0, 0], []
    for number, label in enumerate(labels.tolist()):
        if taken[label] < wanted[label]:
            taken[label] += 1
            found.append(number)
    assert taken == wanted
    return found


def test_as_many_of_each_class():
    assert balanced(LABELS, 3, 60, "train.n_train").tolist() == first_of_each(LABELS, [20, 20, 20])


@pytest.mark.parametrize(("focus", "wanted"), [("dog", [5, 20, 5]), ("eel", [5, 5, 20])])
def test_more_of_one_class(focus, wanted):
    labels = Labels(LABELS[:3], LABELS, NAMES)
    assert focused(labels, 30, focus, 20, "train.n_targets").tolist() == first_of_each(LABELS, wanted)


def test_only_one_class():
    assert focused(Labels(LABELS, LABELS, NAMES), 6, "cat", 6, "train.n_targets").tolist() == first_of_each(
        LABELS, [6, 0, 0]
    )


@pytest.mark.parametrize(("count", "part"), [
    (31, "train.n_train = 31 cannot be split evenly between 3 classes"),
    (90, "train.n_train asks for more images of a class than there are"),
])  # fmt: skip
def test_balanced_refusals(count, part):
    assert np.bincount(LABELS).min() < 30
    assert part in refusal(balanced, LABELS, 3, count, "train.n_train")


@pytest.mark.parametrize(("count", "focus", "of_focus", "part"), [
    (30, "bee", 20, "train.target_class = 'bee' is no class of this data; there are cat, dog, eel"),
    (30, "dog", 19, "train.n_targets = 30 less train.of_target_class = 19 cannot be split evenly between 2 other"),
    (10, "dog", 20, "cannot be split evenly"),
    (60, "dog", 58, "train.n_targets asks for more images of a class than there are"),
])  # fmt: skip
def test_focused_refusals(count, focus, of_focus, part):
    assert part in refusal(focused, Labels(LABELS, LABELS, NAMES), count, focus, of_focus, "train.n_targets")
