"""Compiled counts for pairs of masks, O(n/64) each: the pairs are swept in the order of c = θ̂_i − θ̂_j.

A swap moves f of a row by c where only x_j is 1, by −c where only x_i is 1, and not elsewhere, so that a row has one of
three keys. As c grows from pair to pair, offset + slope·(f ± c) moves one way only, when rounded too; so "the key is
below the untouched one" is true of one range of the sorted pairs. The ends of these ranges are found by bisection, with
the arithmetic of `LinearScore` step by step. The sweep keeps the rows of which it is true as bits, and flips one of
them at each end: O(n) flips for all pairs. A pair then needs a few ANDs and two popcounts for every 64 rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.compiled import kernel
from datamodels_inf.kernels.dense_swap import coin
from datamodels_inf.kernels.popcount import lowest_one, ones

BELOW, AT_MOST = 0, 1
"""Sets of rows: those whose key after the swap is below the untouched key; or equal to it as well."""
PLUS, MINUS, UNMOVED = 0, 1, 2
"""Each of them if f moves by c, by −c, or not."""
ONE = np.uint64(1)


@kernel()
def _first(
    offset: float, slope: float, f: float, sign: float, sorted_c: Floats, level: float, at_level: bool, turned: bool
) -> int:
    """The first c whose residual offset + slope·(f + sign·c), with its sign turned if `turned`, is above `level`.

    Or equal to it, if `at_level`. The residual must not decrease with c.
    """
    low, high = 0, sorted_c.size
    while low < high:
        middle = (low + high) // 2
        residual = offset + slope * (f + sign * sorted_c[middle])
        if turned:
            residual = -residual
        if residual > level or (at_level and residual == level):
            high = middle
        else:
            low = middle + 1
    return low


@kernel()
def _ends(
    untouched: Floats, offset: Floats, slope: Floats, f: Floats, sign: float, absolute: bool, sorted_c: Floats
) -> Ints:
    """(size, 2, 2): for each row the range of c, first and last + 1, with a key below, and at most, the untouched."""
    ends = np.zeros((f.size, 2, 2), np.int64)
    for m in range(f.size):
        turned = slope[m] * sign < 0
        bottom, top = -untouched[m], untouched[m]
        if not absolute:
            bottom, top = (-untouched[m], np.inf) if turned else (-np.inf, untouched[m])
        for which in (BELOW, AT_MOST):
            inside = which == AT_MOST
            first = _first(offset[m], slope[m], f[m], sign, sorted_c, bottom, inside, turned)
            end = _first(offset[m], slope[m], f[m], sign, sorted_c, top, not inside, turned)
            ends[m, which, 0], ends[m, which, 1] = first, max(first, end)
    return ends


@kernel()
def _flips(ends: Ints, count: int) -> tuple[Ints, Ints]:
    """(start, flips): those at place p of the sweep are flips[start[p] : start[p + 1]].

    `ends` is (2, size, 2, 2), of sign + and −; a flip is a place in its first three axes.
    """
    flat = ends.reshape(-1, 2)
    start = np.zeros(count + 2, np.int64)
    for place in ends.flat:
        start[place + 1] += 1
    start = np.cumsum(start)
    flips = np.empty(flat.size, np.int64)
    next_free = start.copy()
    for k in range(len(flat)):
        for place in flat[k]:
            flips[next_free[place]] = k
            next_free[place] += 1
    return start, flips


@kernel()
def sweep_wins(
    untouched: Floats,
    offset: Floats,
    slope: Floats,
    f: Floats,
    absolute: bool,
    words: Any,
    left: Ints,
    right: Ints,
    coefficients: Floats,
    coin_keys: Any,
    flip: bool,
) -> tuple[Ints, Ints, Ints]:
    """`count_wins_of_masks` for pairs of single images: `left`, `right` and `coefficients` have one axis."""
    count, size = left.size, f.size
    order = np.argsort(coefficients)
    sorted_c = coefficients[order]
    ends = np.empty((2, size, 2, 2), np.int64)
    ends[PLUS] = _ends(untouched, offset, slope, f, 1.0, absolute, sorted_c)
    ends[MINUS] = _ends(untouched, offset, slope, f, -1.0, absolute, sorted_c)
    start, flips = _flips(ends, count)
    sets = np.zeros((3, 2, words.shape[1]), np.uint64)
    unmoved = _ends(untouched, offset, slope, f, 1.0, absolute, np.zeros(1))
    for m in range(size):
        for which in (BELOW, AT_MOST):
            if unmoved[m, which, 0] < unmoved[m, which, 1]:
                _flip(sets[UNMOVED, which], m)
    wins, ties, coins = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for place in range(count):
        for k in flips[start[place] : start[place + 1]]:
            _flip(sets[k // (2 * size), k & 1], (k >> 1) % size)
        p = order[place]
        xi, xj = words[left[p]], words[right[p]]
        won, not_lost = np.uint64(0), np.uint64(0)
        for k in range(xi.size):
            won += ones(_rows(sets, BELOW, k, xi[k], xj[k]))  # type: ignore[call-arg]
            not_lost += ones(_rows(sets, AT_MOST, k, xi[k], xj[k]))
        wins[p], ties[p] = won, not_lost - won
        if flip and ties[p] > 0:
            coins[p] = _heads(sets, xi, xj, coin_keys[p])
    return wins, ties, coins


@kernel()
def _flip(rows: Any, m: int) -> None:
    rows[m >> 6] ^= ONE << np.uint64(m & 63)


@kernel()
def _rows(sets: Any, which: int, k: int, xi: np.uint64, xj: np.uint64) -> Any:
    """64 rows of the set, by whether the swap moves them up, down or not."""
    only_i, only_j = xi & ~xj, xj & ~xi
    moved = (sets[PLUS, which, k] & only_j) | (sets[MINUS, which, k] & only_i)
    return moved | (sets[UNMOVED, which, k] & ~(only_i | only_j))


@kernel()
def _heads(sets: Any, xi: Any, xj: Any, coin_key: np.uint64) -> int:
    """How many of the ties fall to the untouched side."""
    heads = 0
    for k in range(xi.size):
        tied = _rows(sets, AT_MOST, k, xi[k], xj[k]) ^ _rows(sets, BELOW, k, xi[k], xj[k])
        while tied:
            heads += coin(coin_key, 64 * k + int(lowest_one(tied)))  # type: ignore[call-arg]
            tied &= tied - ONE
    return heads
