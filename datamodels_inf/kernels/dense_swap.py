"""Compiled counts for linear scores: one pass of O(n) per pair, no copy of x, and seeded coins for ties.

`count_wins` reads columns of numbers, `count_wins_of_masks` columns of bits (`column_words`); the counts are the same.
The latter is for groups of images: for pairs of single images `sweep_swap` is faster.

Numba is slow to import; `datamodels_inf` imports this module only when many pairs are asked for.
Coins are a hash of (seed, pair, sample) and not a stream, so that neither the order of the pairs nor the number of
threads changes a result. `datamodels_inf.internal.coins` holds the same hash in numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float64, int64, uint64

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.coins import GOLDEN, MIX_1, MIX_2
from datamodels_inf.kernels.compiled import kernel


@kernel(inline="always")
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@kernel()
def coin(key: np.uint64, sample: int) -> int:
    """0 or 1: the coin that `flip_coins` gives this sample under this key."""
    return int(_mix(key + np.uint64(sample + 1) * GOLDEN) >> np.uint64(63))


@kernel()
def _add_shift(shift: Floats, xi: Any, xj: Any, coefficient: float) -> None:
    """shift += (x_j − x_i)·(θ̂_i − θ̂_j)."""
    for m in range(shift.size):
        shift[m] += (np.float64(xj[m]) - np.float64(xi[m])) * coefficient


@kernel()
def _add_error(tolerance: Floats, slope: Floats, xi: Any, xj: Any, coefficient: float) -> None:
    """tolerance += |slope|·(|x_i| + |x_j|)·c·ε(|θ̂_i| + |θ̂_j|)."""
    for m in range(tolerance.size):
        tolerance[m] += abs(slope[m]) * (abs(np.float64(xi[m])) + abs(np.float64(xj[m]))) * coefficient


@kernel()
def _count(
    untouched: Floats, offset: Floats, slope: Floats, f: Floats, shift: Floats, absolute: bool, tolerance: Floats
) -> tuple[int, int]:
    """(wins, losses) of the untouched keys against the keys offset + slope·(f + shift) after the swap."""
    won = 0
    lost = 0
    for m in range(shift.size):
        key = offset[m] + slope[m] * (f[m] + shift[m])
        if absolute:
            key = abs(key)
        difference = untouched[m] - key
        won += 1 if difference > tolerance[m] else 0
        lost += 1 if difference < -tolerance[m] else 0
    return won, lost


@kernel()
def _count_heads(
    untouched: Floats,
    offset: Floats,
    slope: Floats,
    f: Floats,
    shift: Floats,
    absolute: bool,
    tolerance: Floats,
    coin_key: np.uint64,
) -> int:
    """How many of the ties fall to the untouched side."""
    heads = 0
    for m in range(shift.size):
        key = offset[m] + slope[m] * (f[m] + shift[m])
        if absolute:
            key = abs(key)
        if abs(untouched[m] - key) <= tolerance[m]:
            heads += coin(coin_key, m)
    return heads


@kernel(
    float64[::1], float64[::1], float64[::1], boolean, float64[::1], boolean, boolean, float64[:, ::1],
    int64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], uint64[::1], boolean,
)  # fmt: skip
def count_wins(
    offset: Floats,
    slope: Floats,
    f: Floats,
    absolute: bool,
    base_tolerance: Floats,
    exact: bool,
    paired: bool,
    columns: Any,
    left: Ints,
    right: Ints,
    coefficients: Floats,
    errors: Floats,
    coin_keys: Any,
    flip: bool,
) -> tuple[Ints, Ints, Ints]:
    """For each pair (wins, ties, ties that the coin gives to the untouched side, if `flip`).

    Unpaired, sample m < h is compared with the swapped sample m + h; paired, with itself. The arithmetic is that of
    `LinearScore`, step by step.
    """
    count = left.shape[0]
    size = f.size if paired else f.size // 2
    first = 0 if paired else size
    untouched, shift, tolerance = np.empty(size), np.empty(size), np.empty(size)
    for m in range(size):
        untouched[m] = offset[m] + slope[m] * f[m]
        if absolute:
            untouched[m] = abs(untouched[m])
    offset, slope, f = offset[first:], slope[first:], f[first:]
    wins, ties, coins = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for p in range(count):
        for m in range(size):  # Not `shift[:] = …`, which takes seconds to compile.
            shift[m], tolerance[m] = 0.0, base_tolerance[m]
        for k in range(left.shape[1]):
            xi, xj = columns[left[p, k], first:], columns[right[p, k], first:]
            _add_shift(shift, xi, xj, coefficients[p, k])
            if not exact:
                _add_error(tolerance, slope, xi, xj, errors[p, k])
        won, lost = _count(untouched, offset, slope, f, shift, absolute, tolerance)
        wins[p] = won
        ties[p] = size - won - lost
        if flip and ties[p] > 0:
            coins[p] = _count_heads(untouched, offset, slope, f, shift, absolute, tolerance, coin_keys[p])
    return wins, ties, coins


@kernel()
def _add_shift_of_masks(shift: Floats, xi: Any, xj: Any, coefficient: float) -> None:
    """shift += (x_j − x_i)·(θ̂_i − θ̂_j), x_i and x_j in words of 64 rows."""
    for k in range(xi.size):
        only_i, only_j = xi[k] & ~xj[k], xj[k] & ~xi[k]
        part = shift[64 * k : 64 * k + 64]
        for row in range(64):
            bit = np.uint64(1) << np.uint64(row)
            part[row] += (coefficient if only_j & bit else 0.0) - (coefficient if only_i & bit else 0.0)


@kernel(
    float64[::1], float64[::1], float64[::1], float64[::1], boolean, uint64[:, ::1], int64[:, ::1],
    int64[:, ::1], float64[:, ::1], uint64[::1], boolean,
)  # fmt: skip
def count_wins_of_masks(
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
    """`count_wins` for 0/1 masks: `words` and the other arrays are of the rows that are swapped and compared.

    Nothing is rounded but the key itself, so there is no tolerance.
    """
    pairs, size = left.shape[0], f.size
    shift, tolerance = np.zeros(64 * words.shape[1]), np.zeros(size)
    wins, ties, coins = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
    won_unmoved, lost_unmoved = _count(untouched, offset, slope, f, shift[:size], absolute, tolerance)
    for p in range(pairs):
        won, lost, moves = won_unmoved, lost_unmoved, False
        for m in range(shift.size):
            shift[m] = 0.0
        for k in range(left.shape[1]):
            moves |= coefficients[p, k] != 0.0
        if moves:  # Else θ̂_i = θ̂_j, and a swap moves nothing.
            for k in range(left.shape[1]):
                _add_shift_of_masks(shift, words[left[p, k]], words[right[p, k]], coefficients[p, k])
            won, lost = _count(untouched, offset, slope, f, shift[:size], absolute, tolerance)
        wins[p] = won
        ties[p] = size - won - lost
        if flip and ties[p] > 0:
            coins[p] = _count_heads(untouched, offset, slope, f, shift[:size], absolute, tolerance, coin_keys[p])
    return wins, ties, coins
