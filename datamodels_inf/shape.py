"""Shapes of step-up corrections that hold however the tests depend on each other (Blanchard & Roquain 2008, EJS 2:963).

For any probability ν on 1..m and any weights w with Σw = m, both chosen without the tested rows, rejecting the R tests
with p ≤ α·w·β(R)/m, R the largest number for which there are as many, controls the false discovery rate at α:

    β(k) = Σ_{r ≤ k} r·ν(r).

Benjamini–Yekutieli's is ν(r) = 1/(r·H_m), so that β(k) = k/H_m. A ν that lies near the number of rejections that is
found in the end makes β(R) nearly R, the value of Benjamini and Hochberg.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from datamodels_inf.internal.checks import Floats, Ints


def harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n.

    >>> round(harmonic(2000), 2)
    8.18
    """
    return float(digamma(n + 1) + np.euler_gamma)


@dataclass(frozen=True, eq=False)
class Shape:
    """ν of a family of m tests: `mass` on the numbers `support`, increasing, and `by_share` of Benjamini–Yekutieli's ν.

    The masses and by_share add up to 1. With β(k) = Σ_{r ≤ k} r·ν(r), R tests are findings if p ≤ α·β(R)/m:

    >>> Shape.benjamini_yekutieli(4).beta([1, 2, 4])  # k/(1 + 1/2 + 1/3 + 1/4)
    array([0.48, 0.96, 1.92])
    >>> Shape(4, np.array([2]), np.array([0.5]), 0.5).beta([1, 2, 4])  # Half of ν is on 2 findings.
    array([0.24, 1.48, 1.96])
    """

    m: int
    support: Ints
    mass: Floats
    by_share: float

    def __post_init__(self) -> None:
        support, mass = self.support, self.mass
        inside = bool((support >= 1).all() and (support <= self.m).all() and (np.diff(support) > 0).all())
        if support.shape != mass.shape or support.ndim != 1 or not inside:
            raise ValueError(f"`support` must be increasing whole numbers from 1 to {self.m}, each with a mass.")
        total = float(mass.sum()) + self.by_share
        if (mass < 0.0).any() or not 0.0 <= self.by_share <= 1.0 or abs(total - 1.0) > 1e-9:
            raise ValueError(f"`mass` and `by_share` must not be negative and add up to 1, but they add up to {total}.")

    @classmethod
    def benjamini_yekutieli(cls, m: int) -> Shape:
        """ν(r) = 1/(r·H_m)."""
        return cls(m, np.zeros(0, np.int64), np.zeros(0), 1.0)

    def beta(self, k: ArrayLike) -> Floats:
        """β(k) for numbers k from 0 to m."""
        numbers = np.asarray(k, np.float64)
        sums = np.concatenate([[0.0], np.cumsum(self.support * self.mass)])
        places: Any = np.searchsorted(self.support, numbers, "right")
        return np.asarray(self.by_share * numbers / harmonic(self.m) + sums[places])
