"""Which of very many p-values are findings: those of an atlas, half a billion, are never in memory together.

A correction holds the k-th smallest p-value against a critical value c_k, which does not fall in k. Step-up (BY, BH):
the findings are the p-values up to the last with p_(k) ≤ c_k; step-down (Holm): those before the first above its c_k.

One pass counts the p-values in bins. In a bin (a, b] with N(a) and N(b) p-values up to its ends, all k lie between the
two, so that

    step-up     the last p_(k) ≤ c_k can be in it only if a < c_N(b),
    step-down   the first p_(k) > c_k can be in it only if b > c_N(a)+1.

The p-values of such a bin are gathered by another pass, and sorted; that decides, or leads to the next such bin.
Closed Benjamini–Yekutieli finds what step-up finds on its line, and what it may add, from one more count in bins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from datamodels_inf.closed_by import EXACT_FAMILY, bin_ends, closed_by_limit, largest_looked_at, last_allowed
from datamodels_inf.internal.checks import Floats, Ints, check_integer
from datamodels_inf.multiplicity import Correction, Setting, asked
from datamodels_inf.shape import Shape

BINS = 2**14
SMALLEST = 1e-300
GATHERED = 2**24
"""p-values that are sorted at once; a bin with more is divided again."""

Chunks = Callable[[], Iterable[Floats]]


@dataclass(frozen=True)
class ManyFindings:
    """limit: the findings are the tests with p ≤ this; −1 if there is none. found, m: how many, of how many."""

    limit: float
    found: int
    m: int


def find_among_many(
    chunks: Chunks, m: int, *, correction: str = "by", alpha: float, shape: Shape | None = None
) -> ManyFindings:
    """The findings among m p-values, of which `chunks()` gives one array after the other, each time it is called.

    p-values above `largest_critical` may be left out; no NaN. The same as p-values adjusted together and held against
    `alpha`, without ever holding them. With the `shape` of a prior, chunks are of p/w, and so is the limit.
    """
    rule, setting = asked(correction, alpha, check_integer("m", m, 1), shape)
    edges = np.concatenate([[-1.0, 0.0], np.geomspace(SMALLEST, 1.0, BINS)])
    limit = _search(chunks, rule, setting, edges, 0)
    if limit is None:  # No p-value of a step-up correction is on its line, or all of a step-down one are.
        limit = _last_below(chunks, 1.0) if rule.steps == "down" else -1.0
    if rule.steps == "closed":
        limit = max(limit, _closed_limit(chunks, m, alpha))
    found = sum(int(np.count_nonzero(p <= limit)) for p in chunks()) if limit >= 0.0 else 0
    return ManyFindings(limit, found, m)


def largest_critical(correction: str, alpha: float, m: int, *, shape: Shape | None = None) -> float:
    """A p-value above this is no finding, whatever the others are, and may be left out."""
    rule, setting = asked(correction, alpha, m, shape)
    largest = float(rule.critical(setting, np.array([float(m)]))[0])
    return max(largest, largest_looked_at(m, alpha)) if rule.steps == "closed" else largest


def _closed_limit(chunks: Chunks, m: int, alpha: float) -> float:
    """`closed_by_limit` of all p-values together."""
    if m <= EXACT_FAMILY:
        return closed_by_limit(np.sort(np.concatenate([np.empty(0), *chunks()])), m, alpha)
    ends = bin_ends(m, alpha)
    counts = np.zeros(len(ends) + 1, np.int64)
    for p in chunks():
        counts += np.bincount(np.searchsorted(ends, p, "left"), minlength=len(counts))
    return _last_below(chunks, last_allowed(ends, counts[:-1], m, alpha))


def _search(chunks: Chunks, rule: Correction, setting: Setting, edges: Floats, before: int) -> float | None:
    """The largest p-value that is a finding; None if these bins do not decide. `before` p-values are below them."""
    counts = np.zeros(len(edges) - 1, np.int64)
    for p in chunks():
        inside = p[(p > edges[0]) & (p <= edges[-1])]
        counts += np.bincount(np.searchsorted(edges, inside, "left") - 1, minlength=len(counts))
    below = before + np.concatenate([[0], np.cumsum(counts)])
    for b in _candidates(rule, setting, edges, below, counts):
        low, high, first = edges[b], edges[b + 1], int(below[b])
        if counts[b] > GATHERED and high > np.nextafter(low, high):
            finer = np.unique(np.linspace(low, high, BINS))
            answer = _search(chunks, rule, setting, finer, first)
            if answer is not None:
                return answer
            continue
        p = np.sort(np.concatenate([p[(p > low) & (p <= high)] for p in chunks()]))
        fine = p <= rule.critical(setting, first + np.arange(1.0, len(p) + 1.0))
        if rule.steps == "down":
            if not fine.all():
                stop = int(np.argmin(fine))
                return float(p[stop - 1]) if stop else _last_below(chunks, low)
        elif fine.any():
            return float(p[np.flatnonzero(fine)[-1]])
    return None


def _candidates(rule: Correction, setting: Setting, edges: Floats, below: Ints, counts: Ints) -> Iterator[int]:
    """The bins that may decide: of step-up from the largest p-values down, of step-down from the smallest up."""
    filled = np.flatnonzero(counts)
    if rule.steps == "down":
        critical = rule.critical(setting, (below[filled] + 1).astype(np.float64))
        yield from filled[edges[filled + 1] > critical].tolist()
    else:
        critical = rule.critical(setting, below[filled + 1].astype(np.float64))
        yield from filled[edges[filled] < critical][::-1].tolist()


def _last_below(chunks: Chunks, high: float) -> float:
    """The largest p-value up to `high`."""
    return max((float(p[p <= high].max(initial=-1.0)) for p in chunks()), default=-1.0)
