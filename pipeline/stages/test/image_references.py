"""Images as a user names them: by number, "12", or by class and position in it, "dog:3"; all from 0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames

NO_NAMES = ItemNames()

# The name of a class may hold spaces: it goes as far as the first colon that is followed by a number.
_ONE = re.compile(r"\s*(?:(\d+)|([^\s:].*?):(\d+))(?=\s|$)")


@dataclass(frozen=True)
class ImageFinder:
    """Training images, or targets: how many there are, and their classes and names where these are known."""

    what: Literal["training image", "target"]
    count: int
    labels: NDArray[np.int64] | None
    class_names: Sequence[str]
    names: Sequence[str] = ()

    @classmethod
    def of_train(cls, count: int, labels: Labels | None, names: ItemNames = NO_NAMES) -> ImageFinder:
        """For `count` training images; by number only if there are neither labels nor names."""
        if labels is None:
            return cls("training image", count, None, (), names.train)
        return cls("training image", count, labels.train_labels, labels.class_names, names.train)

    @classmethod
    def of_targets(cls, count: int, labels: Labels | None, names: ItemNames = NO_NAMES) -> ImageFinder:
        """For `count` targets; by number only if there are neither labels nor names."""
        if labels is None:
            return cls("target", count, None, (), names.targets)
        return cls("target", count, labels.target_labels, labels.class_names, names.targets)

    def find(self, text: str) -> list[int]:
        """The numbers of the images in a text such as "12", "dog:3" or, for a group, "12 17 dog:3"."""
        return [self._by_number(int(match[1])) if match[1] else self._by_class(match) for match in _matches(text)]

    def find_one(self, text: str) -> int:
        """The number of the image in a text that must not name more than one; the text may be its own name.

        A number is a number, whatever is called so.
        """
        called = [] if text.strip().isdecimal() else [k for k, name in enumerate(self.names) if name == text]
        found = called or self.find(text)
        if len(found) != 1:
            raise ValueError(f"{text!r} must be one {self.what}, but it names {len(found)}")
        return found[0]

    def _by_number(self, number: int) -> int:
        if number >= self.count:
            raise ValueError(f"there is no {self.what} {number}: they go from 0 to {self.count - 1}")
        return number

    def _by_class(self, match: re.Match[str]) -> int:
        name, position = match[2], int(match[3])
        if self.labels is None:
            raise ValueError(
                f"{name}:{position} names a class, but the source has no labels (source.images or source.labels)"
            )
        if name not in self.class_names:
            raise ValueError(f"{name!r} is no class of this data; there are {', '.join(self.class_names)}")
        members = np.flatnonzero(self.labels == self.class_names.index(name))
        if position >= len(members):
            raise ValueError(f"class {name} has {len(members)} {self.what}s, so there is no {name}:{position}")
        return int(members[position])


def _matches(text: str) -> Iterator[re.Match[str]]:
    end = len(text.rstrip())
    place = 0
    while place < end or place == 0:
        match = _ONE.match(text, place)
        if match is None:
            raise ValueError(f'{text!r} is not an image: give a number such as 12, or class and position, "dog:3"')
        yield match
        place = match.end()
