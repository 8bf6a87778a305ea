"""Two axes of one scale in a square: what is drawn against what it should equal, dot by dot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.text.numbers import number

LEFT, RIGHT, TOP, BOTTOM = 46.0, 292.0, 10.0, 256.0


@dataclass(frozen=True)
class SquareAxes:
    """Both axes go from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Floats) -> SquareAxes:
        """Axes that hold all `values` and a little more."""
        if not values.size:
            return cls(0.0, 1.0)
        low, high = float(values.min()), float(values.max())
        room = 0.04 * (high - low) or 0.5 * max(abs(high), 1.0)
        return cls(low - room, high + room)

    def x(self, value: Any) -> NDArray[np.float64]:
        """How far from the left."""
        return np.asarray(LEFT + (RIGHT - LEFT) * (value - self.low) / (self.high - self.low))

    def y(self, value: Any) -> NDArray[np.float64]:
        """How far from the top."""
        return np.asarray(BOTTOM - (BOTTOM - TOP) * (value - self.low) / (self.high - self.low))

    def dots(self, across: Floats, up: Floats) -> str:
        """The path of a dot for each of the two."""
        places = zip(self.x(across).tolist(), self.y(up).tolist(), strict=True)
        return "".join(f"M{at(left)} {at(top)}h0" for left, top in places)

    @property
    def across(self) -> list[Tick]:
        """The ticks of the lower axis."""
        return [Tick(float(self.x(value)), text) for value, text in ticks_of(self.low, self.high, 6)]

    @property
    def up(self) -> list[Tick]:
        """The ticks of the left axis."""
        return [Tick(float(self.y(value)), text) for value, text in ticks_of(self.low, self.high, 6)]

    @property
    def span(self) -> str:
        """Its ends in words."""
        return f"{number(self.low)} to {number(self.high)}"
