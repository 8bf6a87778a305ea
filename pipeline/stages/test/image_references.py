"""Images as a user names them: by number, "12", by a name of their own, or by class and position, "dog:3"; from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import some_of
from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames
from pipeline.text.given_names import listed, one_line

# The name of a class may hold spaces: it goes as far as the first colon that is followed by a number.
_ONE = re.compile(r"\s*(?:(\d+)|([^\s:].*?):(\d+))(?=\s|$)")


@dataclass(frozen=True)
class ImageFinder:
    """Training images, or targets: how many there are, and their classes and own names where these are known."""

    what: Literal["training image", "target"]
    count: int
    labels: NDArray[np.int64] | None
    class_names: Sequence[str]
    names: Sequence[str] = ()

    @classmethod
    def of_train(cls, count: int, labels: Labels | None, names: ItemNames | None = None) -> ImageFinder:
        """For `count` training images; by number only if there are neither labels nor names."""
        own = () if names is None else names.train
        if labels is None:
            return cls("training image", count, None, (), own)
        return cls("training image", count, labels.train_labels, labels.class_names, own)

    @classmethod
    def of_targets(cls, count: int, labels: Labels | None, names: ItemNames | None = None) -> ImageFinder:
        """For `count` targets; by number only if there are neither labels nor names."""
        own = () if names is None else names.targets
        if labels is None:
            return cls("target", count, None, (), own)
        return cls("target", count, labels.target_labels, labels.class_names, own)

    def find(self, text: str) -> list[int]:
        """The numbers of the images in a text such as "12", "bmi", "dog:3" or, for a group, "12 17 dog:3".

        What is a number means that number, also where a name looks like one.
        """
        found: list[int] = []
        place, end = 0, len(text.rstrip())
        while place < end or place == 0:
            number, place = self._next(text, place)
            found.append(number)
        return found

    def _next(self, text: str, place: int) -> tuple[int, int]:
        """(the image that `text` names from `place` on, where its name ends)."""
        match = _ONE.match(text, place)
        if match is not None and match[1]:
            return self._by_number(int(match[1])), match.end()
        end = self._end_of_name(text, place)
        if end is not None:
            return self._by_name(text[place:end].strip()), end
        if match is None:
            known = f", or a name such as {self.names[0]}" if self.names else ""
            raise ValueError(
                f'{text[:60]!r} is not an image: give a number such as 12, or class and position, "dog:3"{known}'
            )
        return self._by_class(match), match.end()

    def _end_of_name(self, text: str, place: int) -> int | None:
        """Where the longest name that begins at `place` ends, blanks and all; None where there is no such name."""
        if not self.names:
            return None
        start = place + len(text[place:]) - len(text[place:].lstrip())
        window = text[: start + self._longest].rstrip()  # A long list of names is not looked through for each of them.
        cut = len(window) < len(text.rstrip()) and not text[len(window)].isspace()
        blanks = (blank.start() for blank in reversed(list(re.finditer(r"\s+", window[start:]))))
        ends = [*([] if cut else [len(window)]), *(start + blank for blank in blanks)]
        return next((end for end in ends if end > place and text[place:end].strip() in self._named), None)

    @cached_property
    def _named(self) -> dict[str, list[int]]:
        """Name → the images that are called so."""
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self.names):
            found.setdefault(name, []).append(number)
        return found

    @cached_property
    def _longest(self) -> int:
        """Characters of a name."""
        return max(map(len, self.names))

    def _by_name(self, name: str) -> int:
        numbers = self._named[name]
        if len(numbers) > 1:
            raise ValueError(f"{len(numbers):,} {self.what}s are called {name!r}; give the number: {some_of(numbers)}")
        return numbers[0]

    def find_one(self, text: str) -> int:
        """The number of the image in a text that must not name more than one."""
        found = self.find(text)
        if len(found) != 1:
            raise ValueError(f"{text[:60]!r} must be one {self.what}, but it names {len(found):,}")
        return found[0]

    def _by_number(self, number: int) -> int:
        if number >= self.count:
            raise ValueError(f"there is no {self.what} {one_line(str(number))}: they go from 0 to {self.count - 1}")
        return number

    def _by_class(self, match: re.Match[str]) -> int:
        name, position = match[2], int(match[3])
        asked = one_line(f"{name}:{position}")
        if self.labels is None:
            raise ValueError(f"{asked} names a class, but the source has no labels (source.images or source.labels)")
        if name not in self.class_names:
            raise ValueError(f"{name[:60]!r} is no class of this data; there are {listed(self.class_names)}")
        members = np.flatnonzero(self.labels == self.class_names.index(name))
        if position >= len(members):
            raise ValueError(f"class {name} has {len(members):,} {self.what}s, so there is no {asked}")
        return int(members[position])
