"""The influence of one image as a dot with its interval: filled for a finding, hollow for what is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.content.influences import Single
from pipeline.report.drawing.bars import Bar, bar_of
from pipeline.report.sentences import effect_and_interval, selected_interval


@dataclass(frozen=True)
class Dot:
    """bar: where it lies on the line around zero, None where nothing is known. interval: as text. label: all of it."""

    single: Single
    bar: Bar | None
    interval: str
    label: str

    @property
    def mark(self) -> str:
        """What filled and hollow mean, in a word or two."""
        return "finding" if self.single.finding else "no finding"


def dot_of(single: Single, end: float) -> Dot:
    """On a line from −`end` to `end`."""
    if not math.isfinite(single.effect_se) or not math.isfinite(single.effect):
        return Dot(single, None, "not known", "influence not known")
    text, longer = effect_and_interval(single), selected_interval(single)
    mark = "a finding" if single.finding else "no finding"
    as_finding = f", as a finding {longer}" if single.is_longer else ""
    return Dot(single, bar_of(single, end), text, f"influence {text}{as_finding}: {mark}")
