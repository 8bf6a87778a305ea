"""Deliberately naive references: copy x, swap the columns, loop over the samples. And a broken one."""

from __future__ import annotations

import math

import numpy as np


def swapped_copy(x, i, j):
    copy = np.array(x)
    for a, b in zip(np.atleast_1d(i), np.atleast_1d(j), strict=True):
        copy[:, [a, b]] = copy[:, [b, a]]
    return copy


def naive_swap_counts(x, y, i, j, score):
    """(wins, ties) of Algorithm 1, sample by sample."""
    h = len(y) // 2
    wins = ties = 0
    other = swapped_copy(x, i, j)
    for m in range(h):
        a = score(x[m : m + 1], y[m : m + 1])[0]
        b = score(other[m + h : m + h + 1], y[m + h : m + h + 1])[0]
        wins += a > b
        ties += a == b
    return int(wins), int(ties)


def naive_paired_counts(x, y, i, j, score):
    """(wins, ties) of D = T(x, y) − T(swap(x), y), sample by sample."""
    other = swapped_copy(x, i, j)
    wins = ties = 0
    for m in range(len(y)):
        d = score(x[m : m + 1], y[m : m + 1])[0] - score(other[m : m + 1], y[m : m + 1])[0]
        wins += d > 0
        ties += d == 0
    return int(wins), int(ties)


def binomial_pmf(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def naive_exact_pvalue(k, h, shift):
    """METHOD 6, summed term by term."""
    c = abs(k - h / 2)
    pmf = binomial_pmf(h, 0.5 + shift)
    return min(
        1.0, sum(pmf[b] for b in range(h + 1) if b >= h / 2 + c) + sum(pmf[b] for b in range(h + 1) if b <= h / 2 - c)
    )


def broken_pvalue(x, y, i, j, score, shift):
    """The test with the mistake that METHOD 2 warns of: a tie always counts as a win."""
    wins, ties = naive_swap_counts(x, y, i, j, score)
    return naive_exact_pvalue(wins + ties, len(y) // 2, shift)
