"""The figure: of each method a bar of its claims, confirmed, unproven and reversed, by share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from datamodels_inf.refereeing.verdicts import VERDICTS
from pipeline.report.drawing.svg import at
from pipeline.summaries import MethodFigures
from pipeline.text.numbers import thousands

WIDTH, LEFT, ROW, BAR, TOP = 960.0, 150.0, 40.0, 24.0, 6.0
NARROWEST = 44.0
"""A part that is narrower has no room for its number."""


@dataclass(frozen=True)
class Part:
    """One verdict of a bar: where it stands, and its count as text where there is room for it."""

    verdict: str
    x: str
    width: str
    middle: str
    text: str


@dataclass(frozen=True)
class Bar:
    """One method. y: its top; base: of its text."""

    name: str
    y: str
    base: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class StackedBars:
    """The whole figure. alt: for a reader who does not see it."""

    width: str
    height: str
    left: str
    bars: tuple[Bar, ...]
    alt: str


def stacked_bars(methods: Sequence[MethodFigures]) -> StackedBars:
    """Bars of equal length: what counts is the share."""
    bars = tuple(_bar(k, method) for k, method in enumerate(methods))
    said = "; ".join(
        f"{one.name}: " + ", ".join(f"{count} {name}" for name, count in one.verdicts.items() if count)
        for one in methods
    )
    return StackedBars(
        at(WIDTH), at(2 * TOP + ROW * len(bars)), at(LEFT), bars, f"Claims of each method by verdict. {said}."
    )


def _bar(k: int, method: MethodFigures) -> Bar:
    y, x, parts = TOP + ROW * k + (ROW - BAR) / 2.0, LEFT, []
    for name in VERDICTS:
        width = (WIDTH - LEFT) * method.share(name)
        if width > 0.0:
            count = thousands(method.verdicts[name]) if width >= NARROWEST else ""
            parts.append(Part(name, at(x), at(width), at(x + width / 2.0), count))
        x += width
    return Bar(method.name, at(y), at(y + BAR / 2.0 + 5.0), tuple(parts))
