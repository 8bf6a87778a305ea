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
from numba import boolean, float64, int64, uint64

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
    untouched: Floats,
    offset: Floats,
    slope: Floats,
    f: Floats,
    sign: float,
    absolute: bool,
    sorted_c: Floats,
    ends: Ints,
) -> None:
    """ends[m], of a row: the range of c, first and last + 1, with a key below, and at most, the untouched."""
    for m in range(f.size):
        turned = slope[m] * sign < 0
        bottom, top = -untouched[m], untouched[m]
        if not absolute and turned:
            top = np.inf
        elif not absolute:
            bottom = -np.inf
        for which in range(2):
            inside = which == AT_MOST
            first = _first(offset[m], slope[m], f[m], sign, sorted_c, bottom, inside, turned)
            end = _first(offset[m], slope[m], f[m], sign, sorted_c, top, not inside, turned)
            ends[m, which, 0], ends[m, which, 1] = first, max(first, end)


@kernel()
def _sort_flips(ends: Ints, start: Ints, next_free: Ints, flips: Ints) -> None:
    """The flips at place p of the sweep are flips[start[p] : start[p + 1]]; `start` and `next_free` come with zeros.

    The ends of a row are those of sign + and −; a flip is its place in the first three axes of `ends`.
    """
    size = ends.shape[1]
    for k in range(4 * size):
        for end in range(2):
            start[ends[k // (2 * size), (k >> 1) % size, k & 1, end] + 1] += 1
    for place in range(1, start.size):
        start[place] += start[place - 1]
        next_free[place] = start[place]
    for k in range(4 * size):
        for end in range(2):
            place = ends[k // (2 * size), (k >> 1) % size, k & 1, end]
            flips[next_free[place]] = k
            next_free[place] += 1


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
    ends, flips = np.empty((3, size, 2, 2), np.int64), np.empty(8 * size, np.int64)
    start, next_free = np.zeros((2, count + 2), np.int64)
    sets, counts = np.zeros((3, 2, words.shape[1]), np.uint64), np.zeros((3, count), np.int64)
    # Sorting and memory are numpy's: compiled here, they would take longer to compile than all of the sweep.
    rows = untouched, offset, slope, f, absolute, np.zeros(1)
    sweep(
        *rows,
        words,
        left,
        right,
        order,
        coefficients[order],
        coin_keys,
        flip,
        ends,
        start,
        next_free,
        flips,
        sets,
        counts,
    )
    wins, ties, coins = counts
    return wins, ties, coins


@kernel(
    float64[::1], float64[::1], float64[::1], float64[::1], boolean, float64[::1],
    uint64[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1], uint64[::1], boolean,
    int64[:, :, :, ::1], int64[::1], int64[::1], int64[::1], uint64[:, :, ::1], int64[:, ::1],
)  # fmt: skip
def sweep(
    untouched: Floats,
    offset: Floats,
    slope: Floats,
    f: Floats,
    absolute: bool,
    unmoved: Floats,
    words: Any,
    left: Ints,
    right: Ints,
    order: Ints,
    sorted_c: Floats,
    coin_keys: Any,
    flip: bool,
    ends: Ints,
    start: Ints,
    next_free: Ints,
    flips: Ints,
    sets: Any,
    counts: Ints,
) -> None:
    """counts (3, pairs): wins, ties and coins of the pairs, which are swept in this `order`; `unmoved` is one c = 0."""
    size = f.size
    _ends(untouched, offset, slope, f, 1.0, absolute, sorted_c, ends[PLUS])
    _ends(untouched, offset, slope, f, -1.0, absolute, sorted_c, ends[MINUS])
    _ends(untouched, offset, slope, f, 1.0, absolute, unmoved, ends[UNMOVED])
    _sort_flips(ends, start, next_free, flips)
    for m in range(size):
        for which in range(2):
            if ends[UNMOVED, m, which, 0] < ends[UNMOVED, m, which, 1]:
                _flip(sets, UNMOVED, which, m)
    for place in range(left.size):
        for k in range(start[place], start[place + 1]):
            _flip(sets, flips[k] // (2 * size), flips[k] & 1, (flips[k] >> 1) % size)
        p = order[place]
        i, j = left[p], right[p]
        won, not_lost = np.uint64(0), np.uint64(0)
        for k in range(words.shape[1]):
            won += ones(_rows(sets, BELOW, k, words[i, k], words[j, k]))  # type: ignore[call-arg]
            not_lost += ones(_rows(sets, AT_MOST, k, words[i, k], words[j, k]))
        counts[0, p], counts[1, p] = won, not_lost - won
        if flip and not_lost > won:
            counts[2, p] = _heads(sets, words, i, j, coin_keys[p])


@kernel()
def _flip(sets: Any, moved: int, which: int, m: int) -> None:
    sets[moved, which, m >> 6] ^= ONE << np.uint64(m & 63)


@kernel()
def _rows(sets: Any, which: int, k: int, xi: np.uint64, xj: np.uint64) -> Any:
    """64 rows of the set, by whether the swap moves them up, down or not."""
    only_i, only_j = xi & ~xj, xj & ~xi
    moved = (sets[PLUS, which, k] & only_j) | (sets[MINUS, which, k] & only_i)
    return moved | (sets[UNMOVED, which, k] & ~(only_i | only_j))


@kernel()
def _heads(sets: Any, words: Any, i: int, j: int, coin_key: np.uint64) -> int:
    """How many of the ties fall to the untouched side."""
    heads = 0
    for k in range(words.shape[1]):
        xi, xj = words[i, k], words[j, k]
        tied = _rows(sets, AT_MOST, k, xi, xj) ^ _rows(sets, BELOW, k, xi, xj)
        while tied:
            heads += coin(coin_key, 64 * k + int(lowest_one(tied)))  # type: ignore[call-arg]
            tied &= tied - ONE
    return heads
