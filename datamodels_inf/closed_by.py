"""Closed Benjamini–Yekutieli (Xu, Fischer & Ramdas 2025, "Bringing closure to FDR control"): never fewer findings.

For a set A of a hypotheses, and H_a = 1 + ½ + … + 1/a, let

    h_a(p) = 1/c,  c = max(1, ⌈a·H_a·p/α⌉),  but 0 where c > a.

If all of A is true, E[Σ_A h_a(p_i)] ≤ α: summed by parts, each h_a has a mean of at most

    Σ_{c<a} (1/c − 1/(c+1))·c·α/(a·H_a) + (1/a)·a·α/(a·H_a) = α/a.

The k smallest p-values, R, are *allowed* if for every A

    Σ_{i in A} h_a(p_i) ≥ |A ∩ R|/k.

One A is the set of all true hypotheses. Of it the right side is the share of false findings, of mean at most α then,
however the tests depend on each other and whichever allowed R is taken. Here it is the largest that has all or none of
equal p-values. Benjamini–Yekutieli's findings are allowed: p ≤ α·k/(m·H_m) gives c ≤ k and so h ≥ 1/k where a ≥ k,
and h ≥ 1/a ≥ 1/k where a < k. As α grows, h_a grows, so that what is allowed stays allowed.

Families up to EXACT_FAMILY are searched exactly. Beyond, p-values are counted in bins and sizes a in ranges a₁..a₂, and
the R that is found is allowed, though perhaps not the largest:

- p-values are rounded up to the end of their bin, or to 1 above α/H_m. Their h_a only falls, while R stays what it is.
- h with c from a₂·H_a₂ and 0 where c > a₁ is at most h_a for every a of the range: a·H_a grows with a, and c ≤ a₁ ≤ a.
- It must hold for all A with at least a₁ and at most a₂ hypotheses, which are all sets of the sizes of the range.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.shape import harmonic

EXACT_FAMILY = 10_000
BINS = 2**14
SINGLE_SIZES = 1024
"""Where the search is not exact: sizes a below this are taken one by one, then a₂/a₁ is about 1 + 1/SINGLE_SIZES."""
ROUNDING = 1e-12
"""a·H_a·p/α that is larger than a whole number by this part, and no more, is that number."""

LEVELS: Floats = np.divide.outer(
    [10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 30, 33, 36, 40, 45, 50, 55, 60, 70, 80, 90], [1e4, 1e3, 1e2]
).ravel()
"""Levels at which it is asked what is found, for adjusted p-values."""


def closed_by_limit(p: Floats, m: int, alpha: float) -> float:
    """The largest p-value of a finding among m tests, −1 if there is none; p: sorted, p-values left out count as 1."""
    if m <= EXACT_FAMILY:
        upper, count = np.unique(p[p <= largest_looked_at(m, alpha)], return_counts=True)
    else:
        upper = bin_ends(m, alpha)
        count = np.diff(np.searchsorted(p, upper, "right"), prepend=0)
    found = int(np.searchsorted(p, last_allowed(upper, count, m, alpha), "right"))
    return float(p[found - 1]) if found else -1.0


def closed_by_adjusted(p: Floats, m: int, alpha: float, by: Floats) -> Floats:
    """The smallest level, of LEVELS and α, at which a test is a finding, or Benjamini–Yekutieli's adjusted p-value `by`
    where that is smaller: p-values adjusted upwards, but on the right side of α.
    """
    ordered, levels = np.sort(p), np.union1d(LEVELS, [alpha])
    limits = np.array([max(closed_by_limit(ordered, m, a), p[by <= a].max(initial=-1.0)) for a in levels.tolist()])
    at = limits[levels == alpha]
    limits = np.where(levels < alpha, np.minimum(limits, at), np.maximum(limits, at))  # True but for bins and rounding.
    found_at = np.append(levels, 1.0)[np.searchsorted(np.maximum.accumulate(limits), p, "left")]
    return np.asarray(np.minimum(by, found_at))


def largest_looked_at(m: int, alpha: float) -> float:
    """Larger p-values count as 1: above α they are no findings, since h_1 = 0; beyond EXACT_FAMILY, above α/H_m."""
    return alpha * (1.0 + ROUNDING) if m <= EXACT_FAMILY else alpha / harmonic(m)


def bin_ends(m: int, alpha: float) -> Floats:
    """The bins of a family that is not searched exactly: up to the first end, α/(m·H_m), c = 1 for every a."""
    last = largest_looked_at(m, alpha)
    return np.unique(np.geomspace(last / m, last, BINS))


def last_allowed(upper: Floats, count: Ints, m: int, alpha: float) -> float:
    """The end of the last bin of the largest allowed R, −1 if there is none. upper, count: end and size of each bin."""
    from datamodels_inf.kernels.closed_sets import largest_allowed  # Numba is slow to import.

    upper, count = upper[count > 0], count[count > 0]
    low, high = _sizes(m)
    factor = high * (digamma(high + 1.0) + np.euler_gamma) / alpha * (1.0 - ROUNDING)
    nonzero = np.searchsorted(upper, low / factor, "right")
    below = np.concatenate([[0], np.cumsum(count)])
    last = largest_allowed(upper, below, m, low, high, factor, nonzero)
    return float(upper[last - 1]) if last else -1.0


def _sizes(m: int) -> tuple[Ints, Ints]:
    """a₁ and a₂ of each range of sizes 1..m."""
    if m <= EXACT_FAMILY:
        every = np.arange(1, m + 1)
        return every, every
    steps = np.arange(np.log(m / SINGLE_SIZES) / np.log1p(1.0 / SINGLE_SIZES))
    larger = np.floor(SINGLE_SIZES * (1.0 + 1.0 / SINGLE_SIZES) ** steps).astype(np.int64)
    low = np.unique(np.concatenate([np.arange(1, SINGLE_SIZES), larger]))
    return low, np.append(low[1:] - 1, m)
