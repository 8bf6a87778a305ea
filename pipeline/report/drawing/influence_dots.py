"""The influence of one image as a dot with its interval: filled for a finding, hollow for what is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.content.influences import Single
from pipeline.report.drawing.bars import Bar, bar_of
from pipeline.report.sentences import effect_texts, selected_interval


@dataclass(frozen=True)
class Dot:
    """bar: where it lies on the line around zero, None where nothing is known.

    estimate: "0.31". ends: of the 95 % interval, "0.22 to 0.40". longer: of a finding, empty where it is no other.
    """

    single: Single
    bar: Bar | None
    estimate: str
    ends: str
    longer: str

    @property
    def mark(self) -> str:
        """What filled and hollow mean, in a word or two."""
        return "finding" if self.single.finding else "no finding"

    @property
    def words(self) -> str:
        """ "0.31 (0.22 to 0.40), a finding", or "not known"."""
        if self.bar is None:
            return self.ends
        return f"{self.estimate} ({self.ends}), {'a finding' if self.single.finding else 'no finding'}"

    @property
    def label(self) -> str:
        """What a reader who cannot see it is told."""
        longer = f", as a finding {self.longer}" if self.longer else ""
        return f"influence {self.estimate}, 95 % interval {self.ends}{longer}: {self.mark}"


def dot_of(single: Single, end: float) -> Dot:
    """On a line from −`end` to `end`."""
    if not math.isfinite(single.effect_se) or not math.isfinite(single.effect):
        return Dot(single, None, "", "not known", "")
    estimate, low, high = effect_texts(single)
    longer = selected_interval(single) if single.is_longer else ""
    return Dot(single, bar_of(single, end), estimate, f"{low} to {high}", longer)
