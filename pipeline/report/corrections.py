"""The line that p-values are held against, for each correction for many tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.multiplicity import harmonic


def lines(correction: str, alpha: float, m: int) -> NDArray[np.float64]:
    """The critical value of the k-th smallest of m p-values, k = 1..m.

    "by": α·k/(m·(1 + ½ + … + 1/m)), "bh": α·k/m, "holm": α/(m − k + 1), "bonferroni": α/m.
    """
    k = np.arange(1, m + 1)
    if correction == "by":
        return np.asarray(alpha * k / (m * harmonic(m)))
    if correction == "bh":
        return np.asarray(alpha * k / m)
    return np.asarray(alpha / (m - k + 1.0) if correction == "holm" else np.full(m, alpha / m))


def threshold(correction: str, alpha: float, m: int, found: int) -> float:
    """With `found` findings among m tests: the findings are just the tests with p ≤ this.

    With none, what the smallest p-value would have had to be.
    """
    return float(lines(correction, alpha, m)[max(found, 1) - 1])
