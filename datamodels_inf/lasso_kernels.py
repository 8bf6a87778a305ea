"""The compiled loops of the LASSO: counts of bits, products with rows of the Gram matrix, coordinate descent.

Each has a plain numpy twin in tests/naive_lasso.py. None of them keeps the interpreter's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from datamodels_inf.checks import Floats, Ints
from datamodels_inf.popcount import common_ones

MOST = 32767
"""Counts are kept as int16; what lies beyond is cut off here and added again by `Gram`."""

TILE = 1024
SQUARE = 32
MIRRORED = 32


@njit(nogil=True, cache=True)
def count_common(block: Any, words: Any, which: Ints, first: int, counts: Any) -> None:
    """counts[b, i] = popcount(block[b] & words[which[i], first:])."""
    for i in range(which.size):
        column = words[which[i], first : first + block.shape[1]]
        for b in range(block.shape[0]):
            counts[b, i] = common_ones(column, block[b])  # type: ignore[call-arg]


@njit(nogil=True, cache=True)
def count_rows(
    words: Any, features: Ints, which: Ints, first: int, last: int, base: Floats, rows: Any, slots: Ints, most: int
) -> None:
    """rows[slots[b], j] = N_jk − base_j − base_k, cut off at ±most, for k = features[b] and j in `which`."""
    for i in range(which.size):
        j = which[i]
        column = words[j, first:last]
        for b in range(features.size):
            k = features[b]
            count: int = common_ones(column, words[k, first:last])  # type: ignore[call-arg]
            rows[slots[b], j] = min(most, max(-most, count - np.int64(base[j]) - np.int64(base[k])))


@njit(nogil=True, cache=True)
def mirror_rows(rows: Any, sources: Ints, which: Ints, slots: Ints, features: Ints) -> None:
    """rows[slots[b], which[i]] = rows[sources[i], features[b]]: the matrix is symmetric, sources[i] is row which[i]."""
    for start in range(0, slots.size, MIRRORED):  # So few rows are written to at a time that they stay in the cache.
        for i in range(which.size):
            source, j = rows[sources[i]], which[i]
            for b in range(start, min(start + MIRRORED, slots.size)):
                rows[slots[b], j] = source[features[b]]


@njit(nogil=True, cache=True)
def transpose_bits(bits: Any, words: Any, first_word: int) -> None:
    """Row r, column 8b + c of `bits`, packed as np.packbits does, becomes bit r mod 64 of words[8b + c, first + r/64].

    Squares of 8 × 8 bits are transposed in a register: three rounds of exchanges, of distance 7, 14 and 28.
    """
    n, width = bits.shape
    for start in range(0, n, 512):  # 512 rows fill a cache line of each column.
        stop = min(n, start + 512)
        for b in range(width):
            for top in range(start, stop, 8):
                x = np.uint64(0)
                for r in range(min(8, stop - top)):
                    x |= np.uint64(bits[top + r, b]) << np.uint64(8 * r)
                t = (x ^ (x >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
                x ^= t ^ (t << np.uint64(7))
                t = (x ^ (x >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
                x ^= t ^ (t << np.uint64(14))
                t = (x ^ (x >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
                x ^= t ^ (t << np.uint64(28))
                word, shift = first_word + top // 64, np.uint64(top % 64)
                for c in range(min(8, words.shape[0] - 8 * b)):
                    column = (x >> np.uint64(8 * (7 - c))) & np.uint64(255)
                    words[8 * b + c, word] |= column << shift


@njit(nogil=True, cache=True)
def add_steps(words: Any, first: int, steps: Ints, totals: Ints) -> None:
    """totals[j, t] += Σ_r bit r of words[j, first:] · steps[r, t]; `steps` has 64 rows a word.

    Eight bits of a column stand for one of 256 subsets of eight rows, whose sums are tabled once for all columns.
    """
    tables = np.zeros((4, 256, steps.shape[1]), np.int64)
    a, b, c, d = tables
    byte = np.uint64(255)
    for start in range(0, steps.shape[0], 32):
        for table in range(4):
            _table_sums(steps[start + 8 * table : start + 8 * table + 8], tables[table])
        word, shift = first + start // 64, np.uint64(start % 64)
        for j in range(totals.shape[0]):
            x = words[j, word] >> shift
            from_a, from_b = a[x & byte], b[(x >> np.uint64(8)) & byte]
            from_c, from_d = c[(x >> np.uint64(16)) & byte], d[(x >> np.uint64(24)) & byte]
            total = totals[j]
            for t in range(total.size):
                total[t] += (from_a[t] + from_b[t]) + (from_c[t] + from_d[t])


@njit(nogil=True, cache=True, inline="always")
def _table_sums(steps: Ints, table: Ints) -> None:
    """table[e] = Σ of the rows of `steps` whose bit is set in e."""
    for b in range(8):
        for e in range(1 << b):
            for t in range(steps.shape[1]):
                table[(1 << b) + e, t] = table[e, t] + steps[b, t]


@njit(nogil=True, cache=True, fastmath={"contract"})
def add_rows(rows: Any, slots: Ints, u: Floats, out: Floats) -> None:
    """out += Σ_k u_k·rows[slot_k], four rows at a time and by tiles that stay in the first cache."""
    fours = slots.size // 4 * 4
    for start in range(0, out.size, TILE):
        tile = out[start : start + TILE]
        part = slice(start, start + TILE)
        for i in range(0, fours, 4):
            a, b, c, d = slots[i], slots[i + 1], slots[i + 2], slots[i + 3]
            _add_four(rows[a, part], rows[b, part], rows[c, part], rows[d, part], u[i : i + 4], tile)
        for i in range(fours, slots.size):
            row, factor = rows[slots[i], part], u[i]
            for j in range(tile.size):
                tile[j] += factor * row[j]


@njit(nogil=True, cache=True, fastmath={"contract"})
def _add_four(a: Any, b: Any, c: Any, d: Any, factors: Any, out: Any) -> None:
    """out += Σ of four rows, each times its factor: `out` is read and written once instead of four times."""
    of_a, of_b, of_c, of_d = factors[0], factors[1], factors[2], factors[3]
    for j in range(out.size):
        out[j] += (of_a * a[j] + of_b * b[j]) + (of_c * c[j] + of_d * d[j])


@njit(nogil=True, cache=True)
def fill_gram(
    rows: Any,
    slots: Ints,
    features: Ints,
    first: int,
    share: Floats,
    sums: Floats,
    base: Floats,
    scale: Floats,
    gram: Any,
) -> None:
    """gram[a, b] = (N_ab − n_a n_b / n)·scale_a·scale_b for b < a, a ≥ `first`.

    The last four are of the features: n_a/n, n_a, and the base that `rows` are kept without.
    """
    for a in range(first, features.size):
        row, out = rows[slots[a]], gram[a]
        share_a, base_a, scale_a = share[a], base[a], scale[a]
        for b in range(a):
            out[b] = (row[features[b]] + (base[b] + base_a - share_a * sums[b])) * (scale[b] * scale_a)


@njit(nogil=True, cache=True)
def mirror_gram(gram: Any, first: int, size: int) -> None:
    """gram[b, a] = gram[a, b] for b < a, `first` ≤ a < `size`, and 1 for b = a; in squares that stay in the cache."""
    for a in range(first, size):
        gram[a, a] = 1.0
    for top in range(first, size, SQUARE):
        bottom = min(top + SQUARE, size)
        for left in range(0, bottom, SQUARE):
            for b in range(left, min(left + SQUARE, bottom)):
                for a in range(max(top, b + 1), bottom):
                    gram[b, a] = gram[a, b]


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True, fastmath={"contract"})
def descend(
    gram: Any, c: Floats, w: Floats, g: Floats, lam: float, y2: float, tolerance: float, most_sweeps: int
) -> int:
    """Cyclic coordinate descent on w, in place, from g = c − gram·w; the sweeps that it took.

    It ends when the duality gap over these columns is at most `tolerance`, or when the steps have become so small
    against the first ones that g must be computed anew: what is taken off g on the way is float32, for speed.
    """
    m, first = w.size, 0.0
    off = np.zeros(m, np.float32)
    waiting, steps, count = np.zeros(4, np.int64), np.zeros(4, np.float32), 0  # Rows to take off g, four at a time.
    for sweep in range(most_sweeps):
        now = g - off
        if m == 0 or duality_gap(c, w, now, lam, y2, np.abs(now).max()) <= tolerance:
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
                    _add_four(gram[waiting[0]], gram[waiting[1]], gram[waiting[2]], gram[waiting[3]], steps, off)
                    count = 0
        steps[count:] = 0.0
        _add_four(gram[waiting[0]], gram[waiting[1]], gram[waiting[2]], gram[waiting[3]], steps, off)
        count = 0
        first = max(first, longest)
        if longest <= 1e-5 * first:
            return sweep + 1
    return most_sweeps


@njit(nogil=True, cache=True)
def add_columns(words: Any, features: Ints, first: int, weights: Floats, out: Floats) -> None:
    """out[m] += Σ_j weights_j·M_mj over the rows from word `first` on; `out` has 64 entries a word."""
    ones = np.uint64(1) << np.arange(64).astype(np.uint64)
    for i in range(features.size):
        weight = weights[i]
        column = words[features[i], first : first + out.size // 64]
        for k in range(column.size):
            word, block = column[k], out[64 * k : 64 * k + 64]
            for r in range(64):
                block[r] += weight if word & ones[r] else 0.0
