"""Compiled contrasts: of each pair the signed ranks, by merging, and the sums of Welch's interval, in one pass of O(n).

The rows come sorted by e = y − b − f, f the prediction with all images. A mask with i in and j out has the residual
r = e + θ̂_i, one with j in and i out r = e + θ̂_j: each of the two sides, taken from the sorted rows, is sorted, and by
|r| it is two sorted runs, those below 0 backwards and those above 0. Three merges rank them all.

Each loop has its plain numpy twin in `datamodels_inf.signed_rank` or tests/helpers/naive.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, uint64

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.compiled import kernel
from datamodels_inf.kernels.popcount import lowest_one
from datamodels_inf.signed_rank import DOMINANT, EXACT_UP_TO

SIZE = np.int64(0x7FFF_FFFF_FFFF_FFFE)
"""The bits of a float without its sign and its last bit; see `signed_rank_pvalue`."""


@kernel()
def _residuals(
    words: Any, inside: Ints, outside: Ints, offset: Floats, f: Floats, own: float, residuals: Floats
) -> int:
    """Write r = offset − (f − own) of the rows with all of `inside` and none of `outside`; how many there are.

    f − own is exact (see `scores`), so r, rounded once, is on both sides the same function of y and the other images.
    """
    count = 0
    for k in range(words.shape[1]):
        word = words[inside[0], k]
        for g in range(1, inside.size):
            word &= words[inside[g], k]
        for g in range(outside.size):
            word &= ~words[outside[g], k]
        while word != 0:
            row = 64 * k + np.int64(lowest_one(word))  # type: ignore[call-arg]
            residuals[count] = offset[row] - (f[row] - own)
            count += 1
            word &= word - np.uint64(1)
    return count


@kernel()
def _first_above(r: Floats, zero_too: bool) -> int:
    """Where the sorted `r` begins to be above 0, or at least 0 if `zero_too`."""
    low, high = 0, r.size
    while low < high:
        middle = (low + high) // 2
        if r[middle] > 0.0 or (zero_too and r[middle] == 0.0):
            high = middle
        else:
            low = middle + 1
    return low


@kernel()
def _fold(bits: Ints, below: int, above: int, sign: int, keys: Any) -> int:
    """Merge r[:below] backwards with r[above:] by |r| into keys, |r| with its last bit 1 where sign·r > 0; how many.

    `bits` are those of r.
    """
    low, high, count = below - 1, above, 0
    low_bit, high_bit = np.int64(sign < 0), np.int64(sign > 0)
    while low >= 0 and high < bits.size:
        a, b = (bits[low] & SIZE) | low_bit, (bits[high] & SIZE) | high_bit
        first = a <= b
        keys[count] = a if first else b
        count += 1
        low -= int(first)
        high += int(not first)
    while low >= 0:
        keys[count] = (bits[low] & SIZE) | low_bit
        count += 1
        low -= 1
    while high < bits.size:
        keys[count] = (bits[high] & SIZE) | high_bit
        count += 1
        high += 1
    return count


@kernel()
def _merge(x: Any, y: Any, merged: Any) -> None:
    i, j, count = 0, 0, 0
    while i < x.size and j < y.size:
        a, b = x[i], y[j]
        first = a <= b
        merged[count] = a if first else b
        count += 1
        i += int(first)
        j += int(not first)
    while i < x.size:
        merged[count] = x[i]
        count += 1
        i += 1
    while j < y.size:
        merged[count] = y[j]
        count += 1
        j += 1


@kernel()
def _rank(keys: Any, law: Floats, ranks: Any) -> int:
    """Of sorted keys, law = (2V, Σr², Σr⁴, c), see `signed_rank.large_sample_tail`, and 2r as far as `ranks` goes.

    Returns how many keys are positive.
    """
    n = keys.size
    total, positive, tied = 0, 0, 0
    for k in range(n):
        total += (k + 1) * (keys[k] & 1)
        positive += keys[k] & 1
    for k in range(1, n):
        tied += int((keys[k] >> 1) == (keys[k - 1] >> 1))
    total *= 2
    squares = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0
    law[1], law[2], law[3] = squares, squares * (3.0 * n * n + 3.0 * n - 1.0) / 5.0, 1.0
    for k in range(min(n, ranks.size)):
        ranks[k] = 2 * (k + 1)
    if tied > 0:
        total = _rank_ties(keys, law, ranks)
    law[0] = 2 * total - n * (n + 1)
    return positive


@kernel()
def _rank_ties(keys: Any, law: Floats, ranks: Any) -> int:
    """The same where some are tied and share their mean rank; returns twice the sum of the positive ranks."""
    total, squares, fourths, most, step = 0, 0.0, 0.0, 0.0, 1.0
    start = 0
    while start < keys.size:
        stop, positive = start, 0
        while stop < keys.size and (keys[stop] >> 1) == (keys[start] >> 1):
            positive += keys[stop] & 1
            stop += 1
        doubled = start + stop + 1
        for k in range(start, min(stop, ranks.size)):
            ranks[k] = doubled
        total += positive * doubled
        square = (doubled / 2.0) * (doubled / 2.0)
        part = (stop - start) * square
        squares += part
        fourths += part * square
        if part > most:
            most, step = part, doubled / 2.0
        start = stop
    law[1], law[2], law[3] = squares, fourths, step if most > DOMINANT * squares else 1.0
    return total


@kernel(fastmath={"reassoc", "nsz"})
def _spread(r: Floats, unit: float) -> tuple[float, float]:
    """(mean, Σ(r − mean)²) of sorted r·unit, in one pass from the median.

    The mean is within one standard deviation of the median, so that at most half of Σ(r − median)² is taken off again.
    """
    median = r[r.size // 2] * unit
    total, squares = 0.0, 0.0
    for k in range(r.size):
        deviation = r[k] * unit - median
        total += deviation
        squares += deviation * deviation
    return median + total / r.size, squares - total * (total / r.size)


@kernel(by_itself=True)  # So that what is around `_spread`, whose sums may be reordered, is always the same.
def _welch(a: Floats, b: Floats, effect: Floats) -> None:
    """effect = (difference of the means, Welch's standard error √(s_a²/a + s_b²/b), min(a, b) − 1) of sorted samples.

    With min(a, b) − 1 degrees of freedom an interval never covers too seldom if the noise is normal, whatever the two
    variances (Mickey and Brown 1966). Welch's, which are never fewer, do where a side has few values: 0.83 to 0.94 for
    0.95 with 2 against 10.
    NaN without a mask on one side; an error of ∞ if a side has only one, or neither varies.
    """
    effect[0], effect[1], effect[2] = np.nan, np.inf, 1.0
    if a.size == 0 or b.size == 0:
        return
    largest = max(max(abs(a[0]), abs(a[-1])), max(abs(b[0]), abs(b[-1])))
    # Where squares would under- or overflow, in units of the largest.
    unit = 1.0 if 1e-120 < largest < 1e120 or largest == 0.0 else min(1.0 / largest, 1e300)
    mean_a, squares_a = _spread(a, unit)
    mean_b, squares_b = _spread(b, unit)
    effect[0] = (mean_a - mean_b) / unit
    if a.size < 2 or b.size < 2:
        return
    variance = squares_a / (a.size - 1.0) / a.size + squares_b / (b.size - 1.0) / b.size
    if variance > 0.0:
        effect[1] = np.sqrt(variance) / unit
        effect[2] = min(a.size, b.size) - 1.0


def contrast_pairs(
    words: Any, offset: Floats, f: Floats, left: Ints, right: Ints, own: Floats
) -> tuple[Ints, Floats, Floats, Any]:
    """For each pair of groups (left[p], right[p]), columns of `words` whose weights sum to own[p]:

    counts: masks with the left and without the right, the reverse, and of both those with D > 0 and D ≠ 0;
    effects: see `_welch`; laws: see `_rank`; ranks: 2r of the D ≠ 0 if there are at most EXACT_UP_TO, else of no use.
    Rows must be sorted by offset − f.
    """
    pairs, n = left.shape[0], offset.size
    counts, effects, laws = np.zeros((pairs, 4), np.int64), np.empty((pairs, 3)), np.zeros((pairs, 4))
    ranks = np.zeros((pairs, EXACT_UP_TO), np.int64)
    residuals, keys = np.empty((2, n)), np.empty((3, n), np.int64)
    memory = residuals, residuals.view(np.int64), keys
    contrast(words, offset, f, left, right, own, *memory, counts, effects, laws, ranks)
    return counts, effects, laws, ranks


@kernel(
    uint64[:, ::1], float64[::1], float64[::1], int64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1],
    int64[:, ::1], int64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], int64[:, ::1],
)  # fmt: skip
def contrast(
    words: Any,
    offset: Floats,
    f: Floats,
    left: Ints,
    right: Ints,
    own: Floats,
    residuals: Floats,
    bits: Ints,
    keys: Ints,
    counts: Ints,
    effects: Floats,
    laws: Floats,
    ranks: Ints,
) -> None:
    """`contrast_pairs`, with its memory: `residuals` and `keys` have a row for either side, `keys` one for both.

    `bits` is a view of the residuals.
    """
    for p in range(left.shape[0]):
        a = residuals[0, : _residuals(words, left[p], right[p], offset, f, own[p, 0], residuals[0])]
        b = residuals[1, : _residuals(words, right[p], left[p], offset, f, own[p, 1], residuals[1])]
        _welch(a, b, effects[p])
        some_a = keys[0, : _fold(bits[0, : a.size], _first_above(a, True), _first_above(a, False), 1, keys[0])]
        some_b = keys[1, : _fold(bits[1, : b.size], _first_above(b, True), _first_above(b, False), -1, keys[1])]
        informative = keys[2, : some_a.size + some_b.size]
        _merge(some_a, some_b, informative)
        few = ranks[p] if informative.size <= EXACT_UP_TO else ranks[p, :0]
        counts[p, 0], counts[p, 1], counts[p, 3] = a.size, b.size, informative.size
        counts[p, 2] = _rank(informative, laws[p], few)
