"""How many tests have p ≤ w·u, by the level u: as the fit rows expected it, and as it came. Both axes logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from datamodels_inf.internal.checks import Floats
from pipeline.report.content import Expectation
from pipeline.report.drawing.svg import Tick, at, decades
from pipeline.text.numbers import number

LEFT, RIGHT, TOP, BOTTOM = 44.0, 308.0, 10.0, 210.0


@dataclass(frozen=True)
class ExpectedPlot:
    """predicted, realised: paths. limit: where the level of the findings lies across; None where none is known."""

    label: str
    predicted: str
    realised: str
    limit: float | None
    across: list[Tick]
    up: list[Tick]


def expected_plot(expectation: Expectation, limit: float) -> ExpectedPlot | None:
    """None where nothing was predicted. limit: the p/w that a finding may have at most."""
    if not expectation.u.size:
        return None
    exponents = np.log10(expectation.u)
    first, last = float(exponents[0]), float(exponents[-1])
    counts = np.concatenate([expectation.predicted, expectation.realised])
    least = math.floor(math.log10(counts[counts >= 1.0].min(initial=counts.max(initial=1.0))) + 1e-9)
    top = max(math.log10(counts.max(initial=1.0)), least + 1.0)

    def y(exponent: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (exponent - least) / (top - least)

    def x(exponent: float) -> float:
        return LEFT + (RIGHT - LEFT) * (exponent - first) / (last - first)

    def path(counts: Floats) -> str:
        """From where it reaches one test on."""
        known = zip(exponents.tolist(), counts.tolist(), strict=True)
        points = [f"{at(x(e))} {at(y(math.log10(c)))}" for e, c in known if c >= 1.0]
        return "M" + "L".join(dict.fromkeys(points)) if points else ""

    shown = first <= math.log10(limit) <= last if limit > 0.0 else False
    return ExpectedPlot(
        label=_label(expectation, limit if shown else float(expectation.u[-1])),
        predicted=path(expectation.predicted),
        realised=path(expectation.realised.astype(np.float64)),
        limit=x(math.log10(limit)) if shown else None,
        across=[Tick(x(exponent), text) for exponent, text in decades(first, last, 5)],
        up=[Tick(y(exponent), text) for exponent, text in decades(least, top, 5)],
    )


def _label(expectation: Expectation, u: float) -> str:
    """Both numbers at one level."""
    log_u = np.log(expectation.u)
    expected = float(np.interp(math.log(u), log_u, expectation.predicted))
    came = expectation.realised[max(int(np.searchsorted(expectation.u, u, "right")) - 1, 0)]
    return (
        f"Number of tests with p/w up to a level u, expected and realised, both axes logarithmic: at u = {number(u)} "
        f"about {expected:.0f} were expected, and {int(came)} came"
    )
