"""How many rejections weights and a shape are expected to give, and the shape for which these are the most.

With G(u) the expected number of tests with p ≤ w·u, a step-up of shape β rejects R = the largest r with
G(α·β(r)/m) ≥ r. The expectation may be wrong: the odds G/(m − G) are off by a factor e^x, the same at all u, with
x ~ N(0, spread²), and the shape is chosen for the mean of R over x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from datamodels_inf.internal.checks import Floats
from datamodels_inf.prediction.shapes import expected_shape
from datamodels_inf.shape import Shape, harmonic

LEVELS = 160
"""At which G is tabulated."""
SCENARIOS = np.asarray(ndtri((np.arange(9) + 0.5) / 9.0))
"""x/spread."""
CENTRES = 16
WIDTHS = (0.0, 0.2, 0.6)
"""The mass of ν that BY's floor leaves lies on centre·e^{±width}."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Of a family of m tests at level α: `expected` tests with p ≤ w·u for each of the levels `u`, increasing."""

    m: int
    alpha: float
    u: Floats
    expected: Floats
    spread: float

    @staticmethod
    def levels(m: int, alpha: float) -> Floats:
        """All u that matter: from a hundredth of BY's smallest threshold to α."""
        return np.asarray(np.geomspace(0.01 * alpha / (m * harmonic(m)), alpha, LEVELS))

    @cached_property
    def _numbers(self) -> Floats:
        """Numbers of rejections that are tried."""
        return np.unique(np.rint(np.geomspace(1, self.m, 800)))

    def counts(self, beta: Callable[[Floats], Floats], x: Floats) -> Floats:
        """R of a step-up with these β(r), for each x."""
        numbers = self._numbers
        u = np.maximum(self.alpha * beta(numbers) / self.m, self.u[0])
        reached = np.interp(np.log(u), np.log(self.u), _log_odds(self.expected, self.m))
        # From the back, so that the first that has enough is the largest.
        enough = (reached - _log_odds(numbers, self.m))[::-1] >= -x[:, None]
        return np.where(enough.any(axis=1), numbers[::-1][enough.argmax(axis=1)], 0.0)

    def best_shape(self, floor: float) -> Shape:
        """The shape of `expected_shape` with the most rejections, as a mean over the scenarios."""
        least = self.count(Shape.benjamini_yekutieli(self.m))
        most = float(self.counts(lambda r: r, np.zeros(1))[0])  # No ν has β(r) > r.
        centres = np.unique(np.rint(np.geomspace(max(1.0, 0.25 * least), max(1.0, most), CENTRES)))
        candidates = (expected_shape(self.m, _around(c, w), floor) for c in centres for w in WIDTHS)
        return max(candidates, key=lambda shape: float(self.counts(shape.beta, self.spread * SCENARIOS).mean()))

    def count(self, shape: Shape) -> float:
        """R as expected, x = 0."""
        return float(self.counts(shape.beta, np.zeros(1))[0])

    def interval(self, shape: Shape, confidence: float) -> tuple[float, float]:
        """Of R."""
        half = float(ndtri(0.5 + confidence / 2.0)) * self.spread
        low, high = self.counts(shape.beta, np.array([-half, half])).tolist()
        return low, high


def _around(centre: float, width: float) -> Floats:
    return np.asarray(centre * np.exp(np.linspace(-width, width, 41 if width else 1)))


def _log_odds(count: Floats, m: int) -> Floats:
    """log(r/(m − r)), with r kept half a test away from m."""
    inside = np.clip(count, 1e-12, m - 0.5)
    return np.asarray(np.log(inside / (m - inside)))
