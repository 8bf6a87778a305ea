"""The images with the largest weights for a target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weighted:
    """A training image and its weight in a datamodel."""

    index: int
    label: str
    theta: float


@dataclass(frozen=True)
class Gallery:
    """The training images with the largest positive and the largest negative weight for one target."""

    helpers: tuple[Weighted, ...]
    hurters: tuple[Weighted, ...]
