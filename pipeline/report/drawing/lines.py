"""Lines with marks at their points, over numbers of models: each has a colour and a mark of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pipeline.report.drawing.svg import Tick, at, ticks_of

LEFT, RIGHT, TOP, BOTTOM = 44.0, 308.0, 10.0, 150.0
Points: TypeAlias = Sequence[tuple[float, float]]
MARKS = {
    "●": "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
    "■": "m-3 -3h6v6h-6z",
    "▲": "m0 -3.8l3.8 6.6h-7.6z",
    "◆": "m0 -4l4 4l-4 4l-4 -4z",
}
"""As text, and as a path around a point."""


@dataclass(frozen=True)
class Line:
    """kind: its place among the colours. mark: as text, for the key. path, marks: the line and its points."""

    name: str
    kind: int
    mark: str
    path: str
    marks: str


@dataclass(frozen=True)
class LineChart:
    """Some lines on common axes; label: all of it in words."""

    label: str
    lines: list[Line]
    across: list[Tick]
    up: list[Tick]


def line_chart(label: str, series: Mapping[str, Points], ends: tuple[float, float], *, whole: bool) -> LineChart:
    """Across from 0 to the largest x, up between `ends`; whole: only whole numbers stand at that axis.

    A y that is not known is left out, and the line goes on to the next.
    """
    low, high = ends
    widest = max((x for points in series.values() for x, _ in points), default=1.0)

    def place(x: float, y: float) -> str:
        share = min(max((y - low) / (high - low), 0.0), 1.0)
        return f"{at(LEFT + (RIGHT - LEFT) * x / widest)} {at(BOTTOM - (BOTTOM - TOP) * share)}"

    lines = []
    for kind, (name, points) in enumerate(series.items()):
        mark, shape = list(MARKS.items())[kind % len(MARKS)]
        places = [place(x, y) for x, y in points if not math.isnan(y)]
        path = "M" + "L".join(places) if places else ""
        lines.append(Line(name, kind % len(MARKS), mark, path, "".join(f"M{there}{shape}" for there in places)))
    up = [(y, _plain(text) if whole else text) for y, text in ticks_of(low, high, 5) if not whole or y == round(y)]
    return LineChart(
        label=label,
        lines=lines,
        across=[Tick(LEFT + (RIGHT - LEFT) * x / widest, _plain(text)) for x, text in ticks_of(0.0, widest, 5)],
        up=[Tick(BOTTOM - (BOTTOM - TOP) * (y - low) / (high - low), text) for y, text in up],
    )


def _plain(text: str) -> str:
    return text.removesuffix(".0")
