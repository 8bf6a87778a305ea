"""How good the datamodels are, as drawings: where R² and Spearman lie, and predicted against true margins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.report.content import Content, DatamodelQuality
from pipeline.report.pictures import Slot
from pipeline.report.words import fixed, number, plural, quality_sentence

# Units of the drawings: the pixels of a narrow phone, so that text stays readable there.
LEFT, RIGHT = 14.0, 306.0
DOT = 7.0  # distance of stacked dots
TALLEST = 77.0  # a column of a distribution; where dots would be taller, columns are drawn
LOWEST = -1.0  # targets with less stand in the first column
BOX = (46.0, 292.0, 10.0, 256.0)  # left, right, top and bottom of a scatter plot: a square


@dataclass(frozen=True)
class Tick:
    """A number on an axis, and where."""

    at: float
    text: str


@dataclass(frozen=True)
class Spread:
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
class Scatter:
    """Predicted (across) against true (up) margins of one target, in a square with the same scale on both axes."""

    slot: Slot
    uri: str | None
    rank: str
    r2: float
    spearman: float
    label: str
    marks: str
    across: list[Tick]
    up: list[Tick]


@dataclass(frozen=True)
class QualityView:
    """The section of the page."""

    sentence: str
    r2: Spread | None
    spearman: Spread | None
    scatters: list[Scatter]
    n_drawn: int


def view_of(quality: DatamodelQuality, content: Content, embed: Callable[[Slot], str | None]) -> QualityView:
    """What the page shows of the datamodels."""
    figures = [("R²", quality.r2), ("Spearman’s rank correlation", quality.spearman)]
    columns = [_Columns.of(values[~np.isnan(values)]) for _, values in figures]
    tallest = max((int(c.counts.max()) for c in columns if c is not None), default=1)
    r2, spearman = (
        None if c is None else _spread(name, values, c, tallest)
        for (name, values), c in zip(figures, columns, strict=True)
    )
    return QualityView(
        sentence=quality_sentence(quality, content.n_models_test, content.unit),
        r2=r2,
        spearman=spearman,
        scatters=[_scatter(quality, k, content, embed) for k in range(len(quality.shown))],
        n_drawn=quality.shown_true.shape[1],
    )


def ticks_of(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most `most` round numbers between `low` and `high`, with equally many decimals."""
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if step * power >= rough)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    places += round(step * 10.0**places, 6) % 1.0 > 0.0  # a step of 2.5 needs one more
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, fixed(k * step, places)) for k in range(first, last + 1)]


@dataclass(frozen=True)
class _Columns:
    """Counts of values in equal bins from `low` to 1; smaller values are in the first bin."""

    known: NDArray[np.float64]
    low: float
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, known: NDArray[np.float64]) -> _Columns | None:
        if not known.size:
            return None
        low = max(LOWEST, min(0.0, math.floor(5.0 * known.min()) / 5.0))
        bins = round((1.0 - low) / (0.025 if low > -0.5 else 0.05))
        # Rounded, so that a value on an edge falls on the same side on every machine.
        place = np.floor(np.round((known - low) / (1.0 - low) * bins, 6)).astype(np.int64)
        counts = np.bincount(np.clip(place, 0, bins - 1), minlength=bins)
        return cls(known, low, counts.astype(np.int64))

    def x(self, value: float) -> float:
        share = (value - self.low) / (1.0 - self.low)
        return LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0)


def _spread(name: str, values: NDArray[np.float64], columns: _Columns, tallest: int) -> Spread:
    """Both figures get the same height and the same kind of marks, so that they can be compared."""
    dots = tallest * DOT <= TALLEST
    height = max(tallest * DOT, 3 * DOT) if dots else TALLEST
    width = (RIGHT - LEFT) / len(columns.counts)
    known = columns.known
    median = float(np.median(known))
    single = len(known) == 1
    marks = []
    for k, count in enumerate(columns.counts.tolist()):
        left = LEFT + k * width
        if dots:
            x = columns.x(median) if single else left + width / 2
            marks += [f"M{_at(x)} {_at(height - DOT * (n + 0.5))}h0" for n in range(count)]
        elif count:
            tall = max(height * count / tallest, 1.0)
            marks.append(f"M{_at(left + 0.4)} {_at(height)}v{_at(-tall)}h{_at(width - 0.8)}v{_at(tall)}z")
    return Spread(
        label=_spread_label(name, known, median),
        marks="".join(marks),
        dots=dots,
        ticks=[Tick(columns.x(value), text) for value, text in ticks_of(columns.low, 1.0, 6)],
        median=Tick(columns.x(median), number(median) if single else f"median {number(median)}"),
        single=single,
        height=height,
        note=_spread_note(values, columns, dots),
    )


def _spread_label(name: str, known: NDArray[np.float64], median: float) -> str:
    if len(known) == 1:
        return f"{name} of one target: {number(median)}"
    low, high = number(float(known.min())), number(float(known.max()))
    return f"{name} of {len(known)} targets: lowest {low}, median {number(median)}, highest {high}"


def _spread_note(values: NDArray[np.float64], columns: _Columns, dots: bool) -> str:
    unknown = int(np.isnan(values).sum())
    below = int((columns.known < LOWEST).sum())
    notes = ["One dot a target" if dots else f"The tallest column is {plural(int(columns.counts.max()), 'target')}"]
    if below:
        notes.append(f"{below} below {number(LOWEST)} in the first column")
    if unknown:
        notes.append(f"not defined for {plural(unknown, 'target')}")
    return "; ".join(notes) + "."


def _scatter(quality: DatamodelQuality, k: int, content: Content, embed: Callable[[Slot], str | None]) -> Scatter:
    position = int(quality.shown[k])
    slot = Slot("target", "target", int(quality.targets[position]), quality.classes[position])
    true, predicted = quality.shown_true[k], quality.shown_predicted[k]
    low, high = _limits(np.concatenate([true, predicted]))
    left, right, top, bottom = BOX

    def x(value: Any) -> Any:
        return left + (right - left) * (value - low) / (high - low)

    def y(value: Any) -> Any:
        return bottom - (bottom - top) * (value - low) / (high - low)

    r2, spearman = float(quality.r2[position]), float(quality.spearman[position])
    ticks = ticks_of(low, high, 6)
    points = zip(x(predicted).tolist(), y(true).tolist(), strict=True)
    return Scatter(
        slot=slot,
        uri=embed(slot),
        rank=_rank(r2, quality.r2),
        r2=r2,
        spearman=spearman,
        label=f"{slot.alt}: true against predicted {content.unit} of {plural(len(true), 'held-out model')}, "
        f"both axes from {number(low)} to {number(high)}; R² {number(r2)}, Spearman {number(spearman)}",
        marks="".join(f"M{_at(across)} {_at(up)}h0" for across, up in points),
        across=[Tick(x(value), text) for value, text in ticks],
        up=[Tick(y(value), text) for value, text in ticks],
    )


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Ends of an axis that holds all `values` and a little more."""
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.5 * max(abs(high), 1.0)
    return low - room, high + room


def _rank(r2: float, all_r2: NDArray[np.float64]) -> str:
    """Why this target was picked."""
    lowest, highest = np.nanmin(all_r2), np.nanmax(all_r2)
    if lowest == highest:
        return ""
    return "lowest R²" if r2 == lowest else "highest R²" if r2 == highest else "middle R²"


def _at(value: float) -> str:
    """A coordinate, to a tenth of a unit."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
