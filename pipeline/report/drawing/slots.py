"""The three places of a test, target, image i and image j, and what stands under and behind their images."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.content import Content
from pipeline.report.names import class_name, cut, group_name, group_words, isolated, place, some_of
from pipeline.report.rows import Row
from pipeline.text.given_names import one_line
from pipeline.verified import Verified

MOSAIC = 9  # images of a group that are shown
PLURAL = {"this": "these", "that": "those"}


@dataclass(frozen=True)
class Slot:
    """One of the three places of a test: its role, its image or the images of its group, and its class.

    classes: of each image of a group, where they are known; label is that of the first. own: what each image is called,
    where it has a name.
    noun: what all of them are: "image", or "item" where there is nothing to see.
    """

    role: str
    part: str
    indices: tuple[int, ...]
    label: str
    classes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    noun: str = "image"

    @property
    def place(self) -> str:
        """ "train 12" or "target 17"; beside a name of its own, also what it is: "dog, train 12"."""
        where = place(self.part, self.indices)
        if not any(self.own):
            return where
        if len(self.indices) > 1:
            return f"{self._group}, {where}"
        return f"{class_name(self.label)}, {where}" if self.label else where

    @property
    def name(self) -> str:
        """Its own name, or else the class; of a group how many images of which classes."""
        if any(self.own):
            return some_of(self._called)
        return class_name(self.label, self.noun) if len(self.indices) == 1 else self._group

    def in_sentence(self, article: str) -> str:
        """ "this dog (train 12)", "these 5 dog images (train 12, 40, 41, …)"; of one with a name "bmi (train 2)"."""
        where = place(self.part, self.indices)
        if len(self.indices) == 1:
            kind = isolated(cut(class_name(self.label, self.noun)))
            if not any(self.own):
                return f"{article} {kind} ({where})"
            return f"{isolated(self._called[0])} ({f'{kind}, ' if self.label else ''}{where})"
        names = some_of([isolated(name) for name in self._called]) if any(self.own) else ""
        group, counts = group_words(self.classes or ("",) * len(self.indices), self.noun)
        return f"{PLURAL[article]} {group} ({'; '.join(filter(None, [counts, names, where]))})"

    @property
    def alt(self) -> str:
        """What a reader who cannot see the image is told."""
        return f"{self.role}: {self.name}, {self.place}"

    @property
    def numbers(self) -> str:
        """ "12", or of a group "12, 40, 41, …"."""
        return some_of(list(map(str, self.indices)))

    @property
    def shown(self) -> tuple[int, ...]:
        """Of a group's images, those that have a place."""
        return self.indices[:MOSAIC]

    @property
    def columns(self) -> int:
        """How many images stand side by side in the square of a group."""
        return math.ceil(math.sqrt(len(self.shown)))

    @property
    def _group(self) -> str:
        return group_name(self.classes or ("",) * len(self.indices), self.noun)

    @property
    def _called(self) -> list[str]:
        """Of each image its name, or its number where it alone has none."""
        return [one_line(name) or f"{self.part} {k}" for name, k in zip(self.own, self.indices, strict=True)]


def slot_of(content: Content, role: str, part: str, indices: tuple[int, ...], label: str) -> Slot:
    """With the names that single images have, and of a group with all its classes."""
    own = tuple(content.names.of(part, index) for index in indices)
    known = content.train_classes if part == "train" and len(indices) > 1 else ()
    classes = tuple(known[index] for index in indices) if known else ()
    return Slot(role, part, indices, label, classes, own if any(map(one_line, own)) else (), content.noun)


def slots_of(row: Row | Verified, content: Content) -> tuple[Slot, Slot, Slot]:
    """Target, image i and image j, in the order of the paper's figure."""
    sides = (row.left, row.right) if isinstance(row, Row) else (row.members_i, row.members_j)
    what = "group" if len(sides[0]) > 1 else content.noun
    return (
        slot_of(content, "target", "target", (row.target,), row.class_target),
        slot_of(content, f"{what} i", "train", sides[0], row.class_i),
        slot_of(content, f"{what} j", "train", sides[1], row.class_j),
    )
