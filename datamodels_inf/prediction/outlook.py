"""What the fit rows expect of tests to come: the law of each z-score on the tested rows.

Given z on the fit rows and a scale s, an effect is N(b·z, b), b = s²/(1 + s²), in units of SE_fit, and the z-score of
the test is Z = Σ_s P(s | z)·N(gain·b_s·z, 1 + gain²·b_s). A test with p-value t(|Z|) rejects at t where |Z| ≥ c(t).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from datamodels_inf.internal.checks import Floats
from datamodels_inf.prediction.mixture import ScaleMixture

GRID = np.arange(0.0, 12.0001, 0.05)
"""Critical values at which chances are tabulated; 12 is a p-value of 10⁻³³."""
AT_ONCE = 512


@dataclass(frozen=True)
class PvalueLaw:
    """How a p-value depends on |Z|. pvalue: t(z), decreasing. critical: its inverse."""

    name: str
    pvalue: Callable[[Floats], Floats]
    critical: Callable[[Floats], Floats]


NORMAL = PvalueLaw("normal", lambda z: 2.0 * ndtr(-z), lambda t: -ndtri(np.minimum(t, 1.0) / 2.0))
HOEFFDING = PvalueLaw(
    "hoeffding",
    lambda z: np.minimum(1.0, 2.0 * np.exp(-(z**2) / 2.0)),
    lambda t: np.sqrt(2.0 * np.log(2.0 / np.minimum(t, 1.0))),
)


@dataclass(frozen=True, eq=False)
class Outlook:
    """Tests with z-scores `z` on the fit rows and gains `gain`, under effects as in `mixture`."""

    z: Floats
    gain: Floats
    mixture: ScaleMixture
    law: PvalueLaw = NORMAL

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """(chance, log ratio) of each test at each critical value of GRID."""
        chance, ratio = np.empty((2, len(self.z), len(GRID)))
        shrunk = self.mixture.scale**2 / (1.0 + self.mixture.scale**2)
        for start in range(0, len(self.z), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            z, gain = self.z[part, None], self.gain[part, None]
            chance[part], ratio[part] = _chance_and_ratio(
                self.mixture.posterior(self.z[part]), gain * shrunk * z, np.sqrt(1.0 + gain**2 * shrunk)
            )
        return chance, ratio

    def chance(self, t: Floats) -> Floats:
        """P(p ≤ t) of each test."""
        return _interpolate(self._tables[0], self.law.critical(t) / GRID[1])

    def levels(self, log_ratio: float) -> Floats:
        """The level t of each test at which [g(c) + g(−c)]/(2φ(c)) is this, g the density of Z, c = c(t).

        The ratio grows with c. What one more unit of level is worth to a test is then the same for all of them.
        """
        table = self._tables[1]
        below = (table < log_ratio).sum(axis=1)
        left, right = np.clip(below - 1, 0, None), np.clip(below, None, len(GRID) - 1)
        rows = np.arange(len(table))
        low, high = table[rows, left], table[rows, right]
        step = np.divide(log_ratio - low, high - low, out=np.zeros_like(low), where=high > low)
        return self.law.pvalue(GRID[left] + np.clip(step, 0.0, 1.0) * GRID[1])

    @property
    def ratios(self) -> tuple[float, float]:
        """The smallest and the largest log ratio there is."""
        return float(self._tables[1].min()), float(self._tables[1].max())


def _chance_and_ratio(posterior: Floats, mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """At each of GRID: P(|Z| ≥ c), and log [g(c) + g(−c)]/(2φ(c)), summed over the mixture's components."""
    chance, ratio = np.zeros((2, len(posterior), len(GRID)))
    for s in np.flatnonzero(posterior.max(axis=0) > 1e-12):
        weight, m, v = posterior[:, s, None], mean[:, s, None], sd[:, s, None]
        up, down = (GRID - m) / v, (GRID + m) / v
        chance += weight * (ndtr(-up) + ndtr(-down))
        ratio += weight / (2.0 * v) * (np.exp(0.5 * (GRID**2 - up**2)) + np.exp(0.5 * (GRID**2 - down**2)))
    return chance, np.log(np.maximum(ratio, 1e-300))


def _interpolate(table: Floats, place: Floats) -> Floats:
    """Row k of `table` at place[k], linear."""
    at = np.clip(np.broadcast_to(place, len(table)), 0.0, len(GRID) - 1.0)
    left = np.minimum(at.astype(np.int64), len(GRID) - 2)
    rows, step = np.arange(len(table)), at - left
    return np.asarray((1.0 - step) * table[rows, left] + step * table[rows, left + 1])
