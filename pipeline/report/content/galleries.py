"""The images with the largest weights for a target."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.content.influences import Single


@dataclass(frozen=True)
class Weighted:
    """A training image and its weight in a datamodel; single: its influence with an error bar, where it is known."""

    index: int
    label: str
    theta: float
    single: Single | None = None


@dataclass(frozen=True)
class Gallery:
    """The training images with the largest weights for one target: of the sign that helps, and of the other."""

    helpers: tuple[Weighted, ...]
    hurters: tuple[Weighted, ...]
