"""Effects by fresh models against those of the set: a dot a test, findings in a colour of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.report.content.fresh import FreshFamily
from pipeline.report.drawing.square_axes import SquareAxes
from pipeline.report.drawing.svg import Tick
from pipeline.text.numbers import counted


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
    axes = SquareAxes.around(values)
    n_found, n_other = len(family.found.effect), len(family.other.effect)
    return EffectScatter(
        name=family.name,
        label=f"{family.name}: effect on the {unit} by the fresh models against that of the set, "
        f"{counted(n_found, 'finding')} and {counted(n_other, 'other test')}, "
        f"both axes from {axes.span}",
        found=axes.dots(family.found.effect, family.found.fresh),
        other=axes.dots(family.other.effect, family.other.fresh),
        n_found=n_found,
        n_other=n_other,
        across=axes.across,
        up=axes.up,
    )
