"""Where an effect and its intervals lie on a line around zero, as fractions: page and pictures draw the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pipeline.report.effects import Estimated

STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
LONGEST = 10.0  # an interval longer than so many usual ones is cut, else it would squeeze all others into a dot


@dataclass(frozen=True)
class Span:
    """An interval as fractions of the line from −limit (0) to +limit (1). An open end goes on beyond the line."""

    low: float
    high: float
    open_low: bool
    open_high: bool


@dataclass(frozen=True)
class Bar:
    """The effect and its 95 % interval on the line; longer: the interval of a finding, None where it is no other.

    side: "raises" or "lowers" where the 95 % interval lies on one side of zero, else "unsure".
    """

    effect: float
    interval: Span
    longer: Span | None
    side: str

    @property
    def outer(self) -> Span:
        """The longest interval drawn: it has the arrows."""
        return self.interval if self.longer is None else self.longer


def common_limit(rows: Sequence[Estimated]) -> float:
    """The end of a line around zero that is the same for all `rows`, so that their bars can be compared by eye.

    It holds every estimate; of the intervals, those that are very much longer than others are cut.
    """
    reaches = [reach for row in rows if (reach := _reach(row)) > 0.0]
    if not reaches:
        return 1.0
    farthest = max((abs(row.effect) for row in rows if math.isfinite(row.effect)), default=0.0)
    return round_end(max(farthest, min(max(reaches), LONGEST * median(reaches))))


def round_end(largest: float) -> float:
    """The next round number that is not less than `largest`."""
    power = 10.0 ** math.floor(math.log10(largest))
    return next((step * power for step in STEPS if step * power >= largest), 10.0 * power)


def bar_of(row: Estimated, limit: float) -> Bar | None:
    """The bar of one effect, or None if its effect could not be estimated."""
    if not math.isfinite(row.effect):
        return None
    low = row.effect if math.isnan(row.effect_low) else row.effect_low
    high = row.effect if math.isnan(row.effect_high) else row.effect_high
    side = "raises" if row.effect_low > 0.0 else "lowers" if row.effect_high < 0.0 else "unsure"
    longer = _span(row.effect_low_selected, row.effect_high_selected, limit) if row.is_longer else None
    return Bar(fraction_of(row.effect, limit), _span(low, high, limit), longer, side)


def _reach(row: Estimated) -> float:
    """The largest finite distance from zero."""
    ends = (row.effect_low, row.effect_high, row.effect_low_selected, row.effect_high_selected)
    return max((abs(v) for v in (row.effect, *ends) if math.isfinite(v)), default=0.0)


def _span(low: float, high: float, limit: float) -> Span:
    return Span(fraction_of(low, limit), fraction_of(high, limit), open_low=low < -limit, open_high=high > limit)


def fraction_of(value: float, limit: float) -> float:
    """Where `value` lies on the line from −limit (0) to +limit (1); beyond it, at its end."""
    return (min(max(value / limit, -1.0), 1.0) + 1.0) / 2.0
