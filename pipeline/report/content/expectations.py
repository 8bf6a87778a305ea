"""What the fit rows expected of the tests of one method, and what came: the prior of the correction that needs one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.prior import Prior


@dataclass(frozen=True, eq=False)
class Expectation:
    """prior: weight of each test of the method, in the order of the rows, and shape; made without the tested rows.

    expected: the number of findings. interval: of it, 90 %. expected_by: with Benjamini–Yekutieli's correction. None
    where `reason` says why nothing was predicted, so that w = 1 and ν is Benjamini–Yekutieli's.
    predicted, realised: for each of the increasing levels u, how many tests should have p ≤ w·u, and how many have.
    """

    prior: Prior
    expected: float | None = None
    interval: tuple[float, float] | None = None
    expected_by: float | None = None
    reason: str = ""
    u: Floats = field(default_factory=lambda: np.empty(0))
    predicted: Floats = field(default_factory=lambda: np.empty(0))
    realised: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        if not self.u.shape == self.predicted.shape == self.realised.shape:
            raise ValueError("`predicted` and `realised` must have one entry for each level in `u`.")
        if (self.expected is None) != bool(self.reason):
            raise ValueError("`reason` must say why nothing is `expected`, and be empty where something is.")

    @property
    def weight_range(self) -> tuple[float, float]:
        """The smallest and the largest weight."""
        return float(self.prior.weight.min()), float(self.prior.weight.max())

    @property
    def centre(self) -> int | None:
        """The number of findings that ν is centred on: where r·ν(r) is largest; None for Benjamini–Yekutieli's ν."""
        support, mass = self.prior.shape.support, self.prior.shape.mass
        return int(support[np.argmax(support * mass)]) if support.size else None


def realised_counts(pvalue: Floats, weight: Floats, u: Floats) -> Ints:
    """For each level u, how many tests have p ≤ w·u; NaN marks a test that was not made.

    >>> realised_counts(np.array([0.01, 0.3, np.nan]), np.array([1.0, 2.0, 1.0]), np.array([0.005, 0.1, 0.2]))
    array([0, 1, 2])
    """
    made = ~np.isnan(pvalue) & (weight > 0.0)
    scaled = np.sort(pvalue[made] / weight[made])
    return np.searchsorted(scaled, u, "right")
