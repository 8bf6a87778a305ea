"""Which images of a large set a study takes: as many of every class, and more targets of one class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels, rank_in_class


def balanced(labels: NDArray[np.int64], n_classes: int, count: int, key: str) -> NDArray[np.int64]:
    """The first count / n_classes images of each class, in file order.

    >>> balanced(np.array([1, 0, 0, 0, 1, 1]), 2, 4, "train.n_train").tolist()
    [0, 1, 2, 4]
    """
    if count % n_classes:
        raise BadInputError(f"{key} = {count} cannot be split evenly between {n_classes} classes.")
    return _first_of_each(labels, np.full(n_classes, count // n_classes), key)


def focused(labels: Labels, count: int, focus: str, of_focus: int, key: str) -> NDArray[np.int64]:
    """`count` targets in file order: the first `of_focus` of class `focus`, and equally many of every other class."""
    names = labels.class_names
    if focus not in names:
        raise BadInputError(f"train.target_class = {focus!r} is no class of this data; there are {', '.join(names)}.")
    others, rest = divmod(count - of_focus, len(names) - 1)
    if rest or others < 0:
        raise BadInputError(
            f"{key} = {count} less train.of_target_class = {of_focus} cannot be split evenly between "
            f"{len(names) - 1} other classes."
        )
    wanted = np.full(len(names), others)
    wanted[names.index(focus)] = of_focus
    return _first_of_each(labels.target_labels, wanted, key)


def _first_of_each(labels: NDArray[np.int64], wanted: NDArray[np.int64], key: str) -> NDArray[np.int64]:
    if (np.bincount(labels, minlength=len(wanted)) < wanted).any():
        raise BadInputError(f"{key} asks for more images of a class than there are; lower it.")
    return np.flatnonzero(rank_in_class(labels) < wanted[labels])
