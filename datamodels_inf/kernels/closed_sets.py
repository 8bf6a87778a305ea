"""The compiled search of closed Benjamini–Yekutieli: the largest set of findings that no set A speaks against.

p-values come in bins of equal ones; R is the first bins, k p-values. With h(p) = 1/c, c = max(1, ⌈factor·p⌉), but 0
where c > low, a set A of `low` to `high` hypotheses speaks against R if

    Σ_{i in A} h(p_i) < |A ∩ R|/k,    so if its costs, h(p_i) − 1/k inside R and h(p_i) outside, add up to less than 0.

Inside and outside, costs rise as p falls. The worst A is greedy: of the two next ones the cheaper, as long as costs are
below 0 (up to `high`), and then until there are `low`. Zeros of h come first on both sides, and are taken all at once.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.compiled import kernel

ROUNDING = 1e-12
"""Sums of costs above −ROUNDING are not below 0; what that adds to the false discovery rate."""


@kernel()
def speaks_against(
    upper: Floats, below: Ints, last: int, m: int, low: int, high: int, factor: float, nonzero: int
) -> bool:
    """Whether some A does, where R is the first `last` bins.

    upper: the p-value of each bin. below: p-values before each bin, and after the last. nonzero: bins with h > 0. The m
    hypotheses that are in no bin have h = 0.
    """
    k = below[last]
    share = 1.0 / k
    inside = min(last, nonzero)  # The next bin is the one before.
    taken = min(k - below[inside], high)
    total = -share * taken
    while inside > 0 and taken < high:
        cost = 1.0 / max(1.0, np.ceil(factor * upper[inside - 1])) - share
        if cost >= 0.0:
            break
        some = min(below[inside] - below[inside - 1], high - taken)
        total += cost * some
        taken += some
        inside -= 1
    if total >= -ROUNDING:
        return False
    taken += m - max(k, below[nonzero])
    outside = nonzero
    while taken < low and total < -ROUNDING:
        costs_inside = 1.0 / max(1.0, np.ceil(factor * upper[inside - 1])) - share if inside > 0 else np.inf
        costs_outside = 1.0 / max(1.0, np.ceil(factor * upper[outside - 1])) if outside > last else np.inf
        if costs_outside < costs_inside:
            outside -= 1
            cost, some = costs_outside, below[outside + 1] - below[outside]
        else:
            inside -= 1
            cost, some = costs_inside, below[inside + 1] - below[inside]
        some = min(some, low - taken)
        total += cost * some
        taken += some
    return bool(total < -ROUNDING)


@kernel(float64[::1], int64[::1], int64, int64[::1], int64[::1], float64[::1], int64[::1])
def largest_allowed(upper: Floats, below: Ints, m: int, low: Ints, high: Ints, factor: Floats, nonzero: Ints) -> int:
    """How many bins the largest R has that no A speaks against.

    low, high, factor, nonzero: of each range of sizes of A. The one that spoke against an R is first asked of the next.
    """
    last, size, agreed = upper.size, 0, 0
    while last > 0 and agreed < low.size:
        if speaks_against(upper, below, last, m, low[size], high[size], factor[size], nonzero[size]):
            last -= 1
            agreed = 0
        else:
            size = (size + 1) % low.size
            agreed += 1
    return last
