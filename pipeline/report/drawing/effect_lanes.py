"""The effects of all re-runs on one target, by role, as intervals below each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.content.reruns import Case, Rerun
from pipeline.report.drawing.bars import fraction_of, round_end
from pipeline.report.drawing.embedded_images import Tile
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.text.nouns import worded
from pipeline.text.rerun_roles import ROLES

LEFT, RIGHT = 10.0, 310.0
STEP, TALLEST = 4.0, 110.0  # between intervals, and all intervals of one role
GAP = 9.0


@dataclass(frozen=True)
class Marks:
    """Of one role: its intervals and effects as SVG paths."""

    role: str
    intervals: str
    dots: str


@dataclass(frozen=True)
class Lane:
    """The effects of all re-runs on one target."""

    tile: Tile
    marks: tuple[Marks, ...]
    height: float
    ticks: list[Tick]
    zero: float
    label: str


def axis_limit(reruns: Sequence[Rerun]) -> float:
    """The end of an axis around zero on which all intervals have their place."""
    ends = [abs(v) for rerun in reruns for v in (rerun.effect_low, rerun.effect_high) if math.isfinite(v)]
    return round_end(max(ends, default=1.0) or 1.0)


def rows_of_lane(case: Case, target: int) -> list[tuple[str, list[Rerun]]]:
    """What is drawn of one target, from top to bottom: by role, the larger effects first."""
    known = {role: [rerun for rerun in case.again(role, target) if not math.isnan(rerun.effect)] for role in ROLES}
    return [(role, sorted(some, key=lambda rerun: -rerun.effect)) for role, some in known.items()]


def lane_of(case: Case, target: int, tile: Tile, limit: float) -> Lane:
    """What is drawn of one target, on an axis from −`limit` to `limit`."""

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * fraction_of(value, limit)

    marks, y = [], GAP
    for role, some in rows_of_lane(case, target):
        step = min(STEP, TALLEST / max(1, len(some)))
        intervals, dots = [], []
        for rerun in some:
            intervals.append(f"M{at(x(rerun.effect_low))} {at(y)}H{at(x(rerun.effect_high))}")
            dots.append(f"M{at(x(rerun.effect))} {at(y)}h0")
            y += step
        marks.append(Marks(role, "".join(intervals), "".join(dots)))
        y += GAP if some else 0.0
    ticks = [Tick(x(value), text) for value, text in ticks_of(-limit, limit, 5)]
    counts = ", ".join(f"{len(some)} of {ROLES[role].title}" for role, some in rows_of_lane(case, target) if some)
    label = f"effects with 95 % intervals on {tile.slot.place}: {worded(counts, tile.slot.noun)}"
    return Lane(tile, tuple(marks), y, ticks, x(0.0), label)
