"""The compiled loops of the LASSO: columns of bits, coordinate descent, duality gap.

None of them keeps the interpreter's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float32, float64, int64, uint64

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.bit_squares import BITS, transposed_square
from datamodels_inf.kernels.compiled import kernel
from datamodels_inf.kernels.gram_rows import ROWS, Rows, add_four, chosen, correlate, fill_gram
from datamodels_inf.kernels.popcount import common_ones


@kernel(uint64[:, ::1], int64, int64, int64[::1])
def count_ones(words: Any, first: int, last: int, counts: Ints) -> None:
    """counts[j] = popcount(words[j, first:last])."""
    for j in range(counts.size):
        column = words[j, first:last]
        counts[j] = common_ones(column, column)  # type: ignore[call-arg]


@kernel(BITS, uint64[:, ::1], int64)
def transpose_bits(bits: Any, words: Any, first_word: int) -> None:
    """Row r, column 8b + c of `bits`, packed as np.packbits does, becomes bit r mod 64 of words[8b + c, first + r/64].

    Squares of 8 × 8 bits are transposed in a register.
    """
    n, width = bits.shape
    for start in range(0, n, 512):  # 512 rows fill a cache line of each column.
        stop = min(n, start + 512)
        for b in range(width):
            for top in range(start, stop, 8):
                x = transposed_square(bits, top, min(8, stop - top), b)
                word, shift = first_word + top // 64, np.uint64(top % 64)
                for c in range(min(8, words.shape[0] - 8 * b)):
                    column = (x >> np.uint64(8 * (7 - c))) & np.uint64(255)
                    words[8 * b + c, word] |= column << shift


@kernel()
def largest(values: Floats) -> float:
    """max |values|; 0 of none."""
    most = 0.0
    for value in values:
        most = max(most, abs(value))
    return most


@kernel()
def duality_gap(c: Floats, w: Floats, g: Floats, lam: float, y2: float, steepest: float) -> float:
    """P(w) − D(s·r), for the residual r = y − Zw, g = Zᵀr/n, c = Zᵀy/n, y2 = ‖y‖²/n.

    P = ½‖r‖²/n + λ‖w‖₁ and D(s·r) = s·yᵀr/n − ½s²‖r‖²/n with the best s for which s·|g| ≤ λ everywhere; `steepest`
    is the largest |g|, of all columns. ‖r‖²/n = y2 − (c + g)ᵀw and yᵀr/n = y2 − cᵀw.
    """
    explained, fitted, size = 0.0, 0.0, 0.0
    for j in range(w.size):
        explained += c[j] * w[j]
        fitted += (c[j] + g[j]) * w[j]
        size += abs(w[j])
    r2, yr = max(0.0, y2 - fitted), y2 - explained
    bound = lam / steepest if steepest > 0.0 else np.inf
    best = yr / r2 if r2 > 0.0 else 0.0
    s = max(-bound, min(bound, best))
    return float(0.5 * r2 + lam * size - (s * yr - 0.5 * s * s * r2))


@kernel(fastmath={"contract"})
def descend(
    gram: Any, c: Floats, w: Floats, g: Floats, lam: float, y2: float, tolerance: float, most_sweeps: int
) -> int:
    """Cyclic coordinate descent on w, in place, from g = c − gram·w; the sweeps that it took.

    It ends when the duality gap over these columns is at most `tolerance`, or when the steps have become so small
    against the first ones that g must be computed anew: what is taken off g on the way is float32, for speed.
    """
    m, first = w.size, 0.0
    off, now = np.empty(m, np.float32), np.empty(m)
    waiting, steps, count = np.empty(4, np.int64), np.empty(4, np.float32), 0  # Rows to take off g, four at a time.
    for j in range(m):
        off[j] = 0.0
    for i in range(4):
        waiting[i], steps[i] = 0, 0.0
    for sweep in range(most_sweeps):
        for j in range(m):
            now[j] = g[j] - off[j]
        if m == 0 or duality_gap(c, w, now, lam, y2, largest(now)) <= tolerance:
            return sweep
        longest = 0.0
        for j in range(m):
            old = w[j]
            taken = off[j]
            for i in range(count):
                taken += steps[i] * gram[waiting[i], j]
            z = g[j] - taken + old
            new = z - lam if z > lam else (z + lam if z < -lam else 0.0)
            step = new - old
            if step != 0.0:
                w[j] = new
                longest = max(longest, abs(step))
                waiting[count], steps[count] = j, step
                count += 1
                if count == 4:
                    add_four(gram[waiting[0]], gram[waiting[1]], gram[waiting[2]], gram[waiting[3]], steps, off)
                    count = 0
        for i in range(count, 4):
            steps[i] = 0.0
        add_four(gram[waiting[0]], gram[waiting[1]], gram[waiting[2]], gram[waiting[3]], steps, off)
        count = 0
        first = max(first, longest)
        if longest <= 1e-5 * first:
            return sweep + 1
    return most_sweeps


@kernel(
    ROWS, float32[:, ::1], int64, int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64, float64,
    float64, int64,
)  # fmt: skip
def descend_and_look(
    gram: Rows,
    local: Any,
    filled: int,
    features: Ints,
    order: Ints,
    w: Floats,
    c: Floats,
    g: Floats,
    lam: float,
    y2: float,
    tolerance: float,
    most_sweeps: int,
) -> tuple[int, Floats, float]:
    """`descend` over the working set, w in place, then g = c − (ZᵀZ/n)·w and the duality gap, both over all columns.

    `local` is the part of the matrix of `features`, those before `filled`; it is completed, `order` sorts them.
    (sweeps, g, gap).
    """
    fill_gram(gram, features, order, filled, local)
    own = chosen(c, features)
    sweeps = descend(local, own, w, chosen(g, features), lam, y2, tolerance, most_sweeps)
    g = correlate(gram, c, features, w)
    return sweeps, g, duality_gap(own, w, chosen(g, features), lam, y2, largest(g))


@kernel(float64[::1], boolean[::1], float64)
def steep_columns(g: Floats, inside: Any, level: float) -> Ints:
    """The columns outside the working set with |g_j| > level."""
    count = 0
    found = np.empty(g.size, np.int64)
    for j in range(g.size):
        if abs(g[j]) > level and not inside[j]:
            found[count] = j
            count += 1
    return found[:count].copy()


@kernel(uint64[:, ::1], int64[::1], int64, float64[::1], float64[::1])
def add_columns(words: Any, features: Ints, first: int, weights: Floats, out: Floats) -> None:
    """out[m] += Σ_j weights_j·M_mj over the rows from word `first` on; `out` has 64 entries a word."""
    ones = np.empty(64, np.uint64)
    for r in range(64):
        ones[r] = np.uint64(1) << np.uint64(r)
    for i in range(features.size):
        weight = weights[i]
        column = words[features[i], first : first + out.size // 64]
        for k in range(column.size):
            word, block = column[k], out[64 * k : 64 * k + 64]
            for r in range(64):
                block[r] += weight if word & ones[r] else 0.0
