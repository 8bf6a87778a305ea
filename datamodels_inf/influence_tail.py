"""The far tail of an estimated influence, where residuals are skewed and masks hold few images, or most.

If image i has no influence, its bits are coins that know nothing of the residuals e. Then Δ̂_i·nκ has the law of

    T = Σ_m (X_m − s_m)·e_m,    X_m independent, P(X_m = 1) = s_m = S_m/d,

the same for all images of a target, with cumulants K(t) = Σ_m log(1 − s_m + s_m·exp(t·e_m)) − t·s_m·e_m. For s = ½
it is symmetric and lighter than Student's law. Else a skewed e makes one of its tails heavier: its saddlepoint
approximation (Lugannani & Rice, in Barndorff-Nielsen's form) says how much, for any e,

    P(T ≥ K′(t)) ≈ Φ̄(w + log(v/w)/w),    w = √(2(t·K′(t) − K(t))),    v = t·√K″(t).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, logit

from datamodels_inf.internal.checks import Floats

GRID = np.concatenate([np.linspace(0.1, 6.0, 30), np.geomspace(6.5, 40.0, 14)])
"""Values of t·sd(T); at the last one p is about 1e-300."""


@dataclass(frozen=True, eq=False)
class Tail:
    """One target: where T/(nκ) is as far out as a normal variable is at `deviates`; first upwards, then downwards."""

    places: Floats
    deviates: Floats

    @classmethod
    def of(cls, e: Floats, share: Floats, kappa: float) -> Tail:
        """Of centred residuals e and the rows' shares of ones."""
        both = [_curve(sign * e, share) for sign in (1.0, -1.0)]
        scale = len(e) * kappa
        return cls(np.stack([x / scale for x, _ in both]), np.stack([r for _, r in both]))

    def pvalue(self, estimate: NDArray[Any]) -> Floats:
        """Two-sided: twice the smaller tail, at most 1; not below that of the last place that is known."""
        size = np.abs(estimate)
        deviate = np.where(
            np.asarray(estimate) > 0.0,
            np.interp(size, self.places[0], self.deviates[0], left=-np.inf),
            np.interp(size, self.places[1], self.deviates[1], left=-np.inf),
        )
        return np.asarray(np.minimum(1.0, 2.0 * np.exp(log_ndtr(-deviate))))


def _curve(e: Floats, share: Floats) -> tuple[Floats, Floats]:
    """(x, r): P(T ≥ x) ≈ Φ̄(r), for x upwards from about 0; one place at infinity where nothing varies."""
    inside = (share > 0.0) & (share < 1.0) & (e != 0.0)
    largest = float(np.abs(e).max(initial=0.0)) or 1.0
    e, share = e[inside] / largest, share[inside]
    deviation = float(np.sqrt(np.sum(share * (1.0 - share) * e**2)))
    if deviation == 0.0:
        return np.full(len(GRID), np.inf), np.zeros(len(GRID))
    t = GRID[:, None] / deviation
    tilted = expit(t * e + logit(share))
    cumulants = np.logaddexp(np.log1p(-share), np.log(share) + t * e) - t * share * e
    x = ((tilted - share) * e).sum(axis=1)  # In units of the largest residual.
    w = np.sqrt(np.maximum(2.0 * (t[:, 0] * x - cumulants.sum(axis=1)), 1e-12))
    v = t[:, 0] * np.sqrt((tilted * (1.0 - tilted) * e**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        r = w + np.log(v / w) / w
    good = np.isfinite(r) & (v > 0.0)
    last = int(np.argmin(good)) if not good.all() else len(good)  # Where all coins have fallen, nothing is beyond.
    x, r = np.maximum.accumulate(x), np.maximum.accumulate(r)
    x[last:], r[last:] = x[max(0, last - 1)], r[max(0, last - 1)]
    return largest * x, r
