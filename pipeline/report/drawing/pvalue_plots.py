"""The p-values of one method as drawings: sorted against the line of the correction, and as a histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.multiplicity import critical_values
from datamodels_inf.shape import Shape
from pipeline.report.drawing.svg import Tick, at, decades, ticks_of
from pipeline.report.groups import Group
from pipeline.text.numbers import counted, number

LEFT, RIGHT, TOP, BOTTOM = 44.0, 308.0, 10.0, 210.0
BELOW = 4.0  # decades under the line's start that are drawn; smaller p-values stand at the lower edge
MOST_DOTS = 240
BINS = 20


@dataclass(frozen=True)
class SortedPlot:
    """log p against log rank. found, others, beyond: paths of findings, of the rest, and of what is below the plot."""

    label: str
    found: str
    others: str
    beyond: str
    line: str
    uniform: str
    across: list[Tick]
    up: list[Tick]
    note: str


@dataclass(frozen=True)
class Histogram:
    """Columns of equal width, and the height of a uniform law."""

    label: str
    columns: str
    uniform: float
    across: list[Tick]
    up: list[Tick]
    note: str


@dataclass(frozen=True)
class PvaluePlots:
    """Both drawings of one method."""

    sorted: SortedPlot
    histogram: Histogram


def plots_of(group: Group, correction: str, alpha: float, shape: Shape | None = None) -> PvaluePlots | None:
    """Of the tests of one method; None if no p-value is known.

    shape: of a correction with a prior, which sorts p/w; what is above 1 is drawn there.
    """
    if not group.n_tests:
        return None
    order = np.argsort(group.weighted, kind="stable")[: group.n_tests]  # NaN comes last.
    scaled, found = np.minimum(1.0, group.weighted[order]), group.added["finding"][order]
    critical = critical_values(correction, alpha, group.n_tests, shape=shape)
    return PvaluePlots(_sorted(scaled, found, critical), _histogram(group.pvalue[~np.isnan(group.pvalue)]))


def _sorted(p: NDArray[np.float64], found: NDArray[np.bool_], critical: NDArray[np.float64]) -> SortedPlot:
    m = len(p)
    exponents = np.log10(np.maximum(p, 1e-320))
    start = math.log10(float(critical[critical > 0.0].min()))  # A shape may leave β(1) = 0.
    floor = math.floor(max(float(exponents[0]), start - BELOW) + 1e-9)
    floor = min(floor, math.floor(start), -1)
    width = math.log10(m) or 1.0

    def x(rank: float) -> float:
        return LEFT + 6 + (RIGHT - LEFT - 12) * math.log10(rank) / width

    def y(exponent: float) -> float:
        return TOP + (BOTTOM - TOP) * exponent / floor

    def marks(ranks: Sequence[int]) -> str:
        return "".join(f"M{at(x(k + 1))} {at(y(exponents[k]))}h0" for k in ranks)

    shown = _thinned(m)
    inside = [k for k in shown if exponents[k] >= floor]
    below = [k for k in shown if exponents[k] < floor]
    n_below = int(np.count_nonzero(exponents < floor))
    steps = [k for k in shown if k in (0, m - 1) or k % 3 == 0]
    note = f"{counted(n_below, 'p-value')} below the plot, the smallest {number(float(p[0]))}." if n_below else ""
    return SortedPlot(
        label=f"{counted(m, 'p-value')} by rank, both axes logarithmic: the smallest is {number(float(p[0]))}, where "
        f"the line of the correction starts at {number(float(critical[0]))}; {counted(int(found.sum()), 'finding')}",
        found=marks([k for k in inside if found[k]]),
        others=marks([k for k in inside if not found[k]]),
        beyond="".join(f"M{at(x(k + 1) - 3)} {at(BOTTOM - 6)}h6l-3 6z" for k in below),
        line="M" + "L".join(f"{at(x(k + 1))} {at(y(max(math.log10(critical[k] or 1e-320), floor)))}" for k in steps),
        uniform="M" + "L".join(f"{at(x(k))} {at(y(max(math.log10(k / m), floor)))}" for k in (1, m)),
        across=[Tick(x(10.0**e), text) for e, text in decades(0.0, width, 5)],
        up=[Tick(y(e), text) for e, text in decades(floor, 0.0, 6)],
        note=note,
    )


def _thinned(m: int) -> list[int]:
    """Positions from 0 to m − 1, all of them if they are few, else ever fewer as the logarithm draws them together."""
    if m <= MOST_DOTS:
        return list(range(m))
    ranks = np.unique(np.round(np.geomspace(1, m, MOST_DOTS)).astype(np.int64))
    return [int(rank) - 1 for rank in ranks.tolist()]


def _histogram(p: NDArray[np.float64]) -> Histogram:
    counts = np.histogram(p, np.linspace(0.0, 1.0, BINS + 1))[0]
    highest = float(max(counts.max(), len(p) / BINS)) * 1.04
    width = (RIGHT - LEFT) / BINS

    def y(count: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * count / highest

    columns = [
        f"M{at(LEFT + k * width + 0.6)} {at(BOTTOM)}V{at(y(count))}h{at(width - 1.2)}V{at(BOTTOM)}z"
        for k, count in enumerate(counts.tolist())
        if count
    ]
    ticks = ticks_of(0.0, 1.0, 6)
    whole = [(value, text) for value, text in ticks_of(0.0, highest, 5) if value == round(value)]
    return Histogram(
        label=f"Histogram of {counted(len(p), 'p-value')} in {BINS} columns: {int(counts[0]):,} up to {1 / BINS:g}, "
        f"{int(counts[-1]):,} above {1 - 1 / BINS:g}",
        columns="".join(columns),
        uniform=y(len(p) / BINS),
        across=[Tick(LEFT + (RIGHT - LEFT) * value, text) for value, text in ticks],
        up=[Tick(y(value), text.removesuffix(".0")) for value, text in whole],
        note=f"{int(counts[0]):,} of {len(p):,} lie in the first column, {int(counts[-1]):,} in the last.",
    )
