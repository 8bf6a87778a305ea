"""Effects by fresh models against those of the set: a dot a test, findings in a colour of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.internal.checks import Floats
from pipeline.report.content.fresh import FreshFamily, Points
from pipeline.report.drawing.scatter import BOX, ends_of
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.text.numbers import number, plural


@dataclass(frozen=True)
class EffectScatter:
    """The set's effect across, the fresh models' up, both on one scale; the diagonal is equality.

    found, other: the dots as paths. label: all of it in words.
    """

    name: str
    label: str
    found: str
    other: str
    n_found: int
    n_other: int
    across: list[Tick]
    up: list[Tick]


def effect_scatter(family: FreshFamily, unit: str) -> EffectScatter | None:
    """Of a family; None where it has nothing to draw."""
    values = np.concatenate([side for points in (family.found, family.other) for side in (points.effect, points.fresh)])
    if not values.size:
        return None
    low, high = ends_of(values)
    left, right, top, bottom = BOX

    def x(value: Floats | float) -> Floats | float:
        return left + (right - left) * (value - low) / (high - low)

    def y(value: Floats | float) -> Floats | float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    def dots(points: Points) -> str:
        places = zip(np.asarray(x(points.effect)).tolist(), np.asarray(y(points.fresh)).tolist(), strict=True)
        return "".join(f"M{at(across)} {at(up)}h0" for across, up in places)

    n_found, n_other = len(family.found.effect), len(family.other.effect)
    ticks = ticks_of(low, high, 6)
    return EffectScatter(
        name=family.name,
        label=f"{family.name}: effect on the {unit} by the fresh models against that of the set, "
        f"{plural(n_found, 'finding')} and {plural(n_other, 'other test')}, "
        f"both axes from {number(low)} to {number(high)}",
        found=dots(family.found),
        other=dots(family.other),
        n_found=n_found,
        n_other=n_other,
        across=[Tick(float(x(value)), text) for value, text in ticks],
        up=[Tick(float(y(value)), text) for value, text in ticks],
    )
