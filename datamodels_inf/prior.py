"""What may be known of m tests before their p-values are: how much each deserves, and how many will be rejected.

Both must come from elsewhere than the tested rows, such as the rows that the datamodels were fitted on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.internal.checks import Floats
from datamodels_inf.shape import Shape

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Prior:
    """weight: w of each test, at least 0; those of the tests that are made add up to the size of the family, `shape.m`,
    at most. shape: β (`Shape`).

    Rejecting p ≤ α·w·β(R)/m, R the largest number for which there are as many, is step-up of p/w. For U uniform and any
    whole number V ≥ 1 that depends on it in any way, E[1{U ≤ c·β(V)}/V] ≤ c (Blanchard & Roquain 2008, lemma 3.2). So a
    true hypothesis adds at most α·w/m to the false discovery rate, and all together at most α.
    """

    weight: Floats
    shape: Shape

    def __post_init__(self) -> None:
        if self.weight.ndim != 1 or not np.isfinite(self.weight).all() or (self.weight < 0.0).any():
            raise ValueError("`weight` must be a vector of finite numbers of at least 0, one for each p-value.")

    def scaled(self, p: Floats) -> Floats:
        """p/w, infinite where w = 0; NaN marks a test that was not made, whose weight does not count."""
        if p.shape != self.weight.shape:
            raise ValueError(f"`prior` holds {self.weight.size} weights, but there are {p.size} p-values.")
        total = float(self.weight[~np.isnan(p)].sum())
        if total > self.shape.m * (1.0 + ROUNDING):
            raise ValueError(f"`prior` may have weights that add up to {self.shape.m}, but they add up to {total:g}.")
        positive = self.weight > 0.0
        return np.where(positive | np.isnan(p), p / np.where(positive, self.weight, 1.0), np.inf)

    def confidence(self, level: float) -> Floats:
        """The level of each test's interval, should it be a finding: 1 − w·p*, from `level` = 1 − p*, that of weight 1.

        With p* = α·β(R)/m these miss for an expected share of at most α of the findings, whatever picked the R: by the
        lemma again, with U the level at which an interval begins to miss. Of levels that add up to the same, these are
        the ones at which the interval of a finding, if its test and its interval agree, does not contain 0.
        """
        return 1.0 - np.minimum(1.0, self.weight * (1.0 - level))
