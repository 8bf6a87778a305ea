"""What the drawings of the page share: coordinates as text, and round numbers on axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.text.numbers import SUPERSCRIPTS, fixed


@dataclass(frozen=True)
class Tick:
    """A number on an axis, and where."""

    at: float
    text: str


def at(value: float) -> str:
    """A coordinate, to a tenth of a unit."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def ticks_of(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most `most` round numbers between `low` and `high`, with equally many decimals."""
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if step * power >= rough)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    places += round(step * 10.0**places, 6) % 1.0 > 0.0  # a step of 2.5 needs one more
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, fixed(k * step, places)) for k in range(first, last + 1)]


def decades(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most `most` powers of ten between 10^`low` and 10^`high`, as (exponent, text)."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [(float(k), power_of_ten(k)) for k in range(last, first - 1, -step)][::-1]


def power_of_ten(exponent: int) -> str:
    """1, 10, 0.1, 0.01, and 10⁻³ and so on."""
    if -2 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return f"10{str(exponent).translate(SUPERSCRIPTS)}"
