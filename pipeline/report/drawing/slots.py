"""The three places of a test, target, image i and image j, and what stands under and behind their images."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.names import class_name, place
from pipeline.report.rows import Row
from pipeline.text.numbers import plural

MOSAIC = 9  # images of a group that are shown


@dataclass(frozen=True)
class Slot:
    """One of the three places of a test: its role, its image or the images of its group, and its class."""

    role: str
    part: str
    indices: tuple[int, ...]
    label: str

    @property
    def place(self) -> str:
        """ "train 12" or "target 17"."""
        return place(self.part, self.indices)

    @property
    def name(self) -> str:
        """The class, and of a group how many images."""
        label = class_name(self.label)
        return label if len(self.indices) == 1 else f"{label}, {plural(len(self.indices), 'image')}"

    @property
    def alt(self) -> str:
        """What a reader who cannot see the image is told."""
        return f"{self.role}: {self.name}, {self.place}"

    @property
    def shown(self) -> tuple[int, ...]:
        """Of a group's images, those that have a place."""
        return self.indices[:MOSAIC]

    @property
    def columns(self) -> int:
        """Of the square of a group's images."""
        return math.ceil(math.sqrt(len(self.shown)))


def slots_of(row: Row) -> tuple[Slot, Slot, Slot]:
    """Target, image i and image j, in the order of the paper's figure."""
    many = len(row.left) > 1
    return (
        Slot("target", "target", (row.target,), row.class_target),
        Slot("group i" if many else "image i", "train", row.left, row.class_i),
        Slot("group j" if many else "image j", "train", row.right, row.class_j),
    )
