"""The distribution of a figure over the targets: columns of dots, or a histogram where there are too many of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.report.drawing.svg import Tick, at, decades, ticks_of
from pipeline.text.numbers import counted, number

# Units of the drawings: the pixels of a narrow phone, so that text stays readable there.
LEFT, RIGHT = 14.0, 306.0
DOT = 7.0  # distance of stacked dots
TALLEST = 77.0  # a column of a distribution; where dots would be taller, columns are drawn
LOWEST = -1.0  # of R² and rank correlations: targets with less stand in the first column
BINS = 40


@dataclass(frozen=True)
class Distribution:
    """The distribution of one figure over the targets, as columns of dots or as a histogram.

    marks: an SVG path, drawn with round dots (`dots`) or filled, of this `height`.
    median: where it lies, and in words; the value itself where it is the only one (`single`).
    note: what the drawing does not say.
    """

    label: str
    marks: str
    dots: bool
    ticks: list[Tick]
    median: Tick
    single: bool
    height: float
    note: str


@dataclass(frozen=True)
class Columns:
    """Counts of known values in equal bins between the ends of an axis; values beyond are in the outermost bins.

    On a `log` axis, `low` and `high` are exponents of ten.
    """

    name: str
    known: NDArray[np.float64]
    unknown: int
    low: float
    high: float
    log: bool
    counts: NDArray[np.int64]

    @classmethod
    def make(
        cls, name: str, values: NDArray[np.float64], low: float, high: float, bins: int, log: bool = False
    ) -> Columns:
        """`values` counted in `bins`; those that are not known are counted apart."""
        known = values[~np.isnan(values)]
        scaled = np.log10(known) if log else known
        # Rounded, so that a value on an edge falls on the same side on every machine.
        place = np.floor(np.round((scaled - low) / (high - low) * bins, 6)).astype(np.int64)
        counts = np.bincount(np.clip(place, 0, bins - 1), minlength=bins).astype(np.int64)
        return cls(name, known, len(values) - len(known), low, high, log, counts)

    def x(self, value: float) -> float:
        """Where `value` lies across; beyond the axis, at its end."""
        share = ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)
        return LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0)

    @property
    def ticks(self) -> list[Tick]:
        """The numbers on the axis."""
        if self.log:
            texts = [(10.0**exponent, text) for exponent, text in decades(self.low, self.high, 5)]
        else:
            texts = ticks_of(self.low, self.high, 6)
        return [Tick(self.x(value), text) for value, text in texts]


def share_columns(name: str, values: NDArray[np.float64]) -> Columns | None:
    """Of a figure that is 1 at best: an axis from 0 or the least value, but no less than −1, to 1."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low = max(LOWEST, min(0.0, math.floor(5.0 * known.min()) / 5.0))
    return Columns.make(name, values, low, 1.0, round((1.0 - low) / (0.025 if low > -0.5 else 0.05)))


def count_columns(name: str, values: NDArray[np.float64], most: int) -> Columns | None:
    """Of a count from 0 to `most`."""
    return Columns.make(name, values, 0.0, float(most), BINS) if values.size and most > 0 else None


def log_columns(name: str, values: NDArray[np.float64]) -> Columns | None:
    """Of positive numbers, on a logarithmic axis between whole powers of ten."""
    known = values[values > 0.0]
    if not known.size:
        return None
    exponents = np.log10(known)
    low, high = math.floor(exponents.min() + 1e-9), math.ceil(exponents.max() - 1e-9)
    return Columns.make(name, np.where(values > 0.0, values, np.nan), low, max(high, low + 1), BINS, log=True)


def distribution_of(columns: Columns, tallest: int | None = None) -> Distribution:
    """With the same `tallest` count, figures that are compared get the same height and the same kind of marks."""
    tallest = tallest or int(columns.counts.max())
    dots = tallest * DOT <= TALLEST
    height = max(tallest * DOT, 3 * DOT) if dots else TALLEST
    median = float(np.median(columns.known))
    single = len(columns.known) == 1
    return Distribution(
        label=_label(columns, median),
        marks=_dots(columns, height, median if single else None) if dots else _bars(columns, height, tallest),
        dots=dots,
        ticks=columns.ticks,
        median=Tick(columns.x(median), number(median) if single else f"median {number(median)}"),
        single=single,
        height=height,
        note=_note(columns, dots),
    )


def _dots(columns: Columns, height: float, only: float | None) -> str:
    """Stacked dots in the middle of each bin; `only`: the one value there is, which has its own place."""
    width = (RIGHT - LEFT) / len(columns.counts)
    marks = []
    for k, count in enumerate(columns.counts.tolist()):
        x = LEFT + k * width + width / 2 if only is None else columns.x(only)
        marks += [f"M{at(x)} {at(height - DOT * (n + 0.5))}h0" for n in range(count)]
    return "".join(marks)


def _bars(columns: Columns, height: float, tallest: int) -> str:
    """A column for each bin that is not empty."""
    width = (RIGHT - LEFT) / len(columns.counts)
    marks = []
    for k, count in enumerate(columns.counts.tolist()):
        tall = max(height * count / tallest, 1.0)
        if count:
            marks.append(f"M{at(LEFT + k * width + 0.4)} {at(height)}v{at(-tall)}h{at(width - 0.8)}v{at(tall)}z")
    return "".join(marks)


def _label(columns: Columns, median: float) -> str:
    known, name = columns.known, columns.name
    if len(known) == 1:
        return f"{name} of one target: {number(median)}"
    low, high = number(float(known.min())), number(float(known.max()))
    return f"{name} of {len(known)} targets: lowest {low}, median {number(median)}, highest {high}"


def _note(columns: Columns, dots: bool) -> str:
    below = 0 if columns.log else int((columns.known < columns.low).sum())
    notes = ["One dot a target" if dots else f"The tallest column is {counted(int(columns.counts.max()), 'target')}"]
    if below:
        notes.append(f"{below} below {number(columns.low)} in the first column")
    if columns.unknown:
        notes.append(f"not defined for {counted(columns.unknown, 'target')}")
    return "; ".join(notes) + "."
