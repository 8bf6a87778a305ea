"""The compiled loops on rows of the Gram matrix: to keep them, to multiply with them, to copy a part of them.

None of them keeps the interpreter's lock.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int16, int32, int64, types
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.compiled import kernel

TILE = 1024
SQUARE = 32


class Rows(NamedTuple):
    """Rows of (ZᵀZ)_jk / n = (N_jk − n_j n_k / n)·scale_j·scale_k, as `Gram` keeps them.

    Row k is rows[slot[k]] = N_jk − base_j − base_k, but for `excess`[k] that is missing on the diagonal, and for
    excess_beyond[i] that is missing in column column_beyond[i] of row row_beyond[i].
    """

    rows: NDArray[np.int16]
    slot: Ints
    n: float
    sums: Floats
    base: Floats
    scale: Floats
    excess: Floats
    row_beyond: Ints
    column_beyond: Ints
    excess_beyond: Floats


ROWS: Any = types.NamedTuple(  # type: ignore[no-untyped-call]
    (
        int16[:, ::1], int64[::1], float64, float64[::1], float64[::1], float64[::1], float64[::1],
        int64[::1], int64[::1], float64[::1],
    ),
    Rows,
)  # fmt: skip


@kernel(int32[:, ::1], int64[::1], int64[::1], int64[::1], int16[:, ::1], int64[::1], int64)
def set_rows(counts: Any, features: Ints, which: Ints, base: Ints, rows: Any, slots: Ints, most: int) -> None:
    """rows[slots[b], j] = N_jk − base_j − base_k, cut off at ±most, for k = features[b], j = which[i], counts[b, i]."""
    base_of = base[which]
    for b in range(slots.size):
        row, base_b = rows[slots[b]], base[features[b]]
        for i in range(which.size):
            row[which[i]] = min(most, max(-most, counts[b, i] - base_of[i] - base_b))


@kernel(int32[:, ::1], int64[::1], int64[::1], int64[::1], int16[:, ::1], int64[::1], int64)
def add_to_rows(counts: Any, features: Ints, which: Ints, moved: Ints, rows: Any, slots: Ints, most: int) -> None:
    """rows[slots[b], j] += counts[b, i] + moved_j + moved_k, cut off at ±most; what is cut off already stays so."""
    moved_of = moved[which]
    for b in range(slots.size):
        row, moved_b = rows[slots[b]], moved[features[b]]
        for i in range(which.size):
            before = np.int64(row[which[i]])
            if abs(before) < most:
                row[which[i]] = min(most, max(-most, before + counts[b, i] + moved_of[i] + moved_b))


@kernel(int16[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1])
def mirror_rows(rows: Any, sources: Ints, which: Ints, slots: Ints, features: Ints) -> None:
    """rows[slots[b], which[i]] = rows[sources[i], features[b]]: the matrix is symmetric, sources[i] is row which[i]."""
    for i in range(which.size):
        source, j = rows[sources[i]], which[i]
        for b in range(slots.size):
            rows[slots[b], j] = source[features[b]]


@kernel(ROWS, float64[::1], int64[::1], float64[::1])
def correlate(gram: Rows, c: Floats, features: Ints, w: Floats) -> Floats:
    """g = c − (ZᵀZ/n)·w for all columns, w being 0 outside `features`.

    With u_k = w_k·scale_k, the rows add Σ_k u_k·(N_jk − a_j − a_k) to Σ_k u_k·(a_j + a_k − n_j n_k / n).
    """
    slots, u, count = np.empty(w.size, np.int64), np.empty(w.size), 0
    total, of_base, of_sums = 0.0, 0.0, 0.0
    for i in range(w.size):
        if w[i] != 0.0:
            k = features[i]
            slots[count], u[count] = gram.slot[k], w[i] * gram.scale[k]
            total += u[count]
            of_base += u[count] * gram.base[k]
            of_sums += u[count] * gram.sums[k]
            count += 1
    product = np.empty(c.size)
    for j in range(c.size):
        product[j] = total * gram.base[j] + of_base - of_sums / gram.n * gram.sums[j]
    add_rows(gram.rows, slots[:count], u[:count], product)
    for i in range(w.size):
        k = features[i]
        product[k] += w[i] * gram.scale[k] * gram.excess[k]
    if gram.row_beyond.size > 0:
        place = _places(features, c.size)
        for i in range(gram.row_beyond.size):
            k = gram.row_beyond[i]
            if place[k] >= 0:
                product[gram.column_beyond[i]] += w[place[k]] * gram.scale[k] * gram.excess_beyond[i]
    for j in range(c.size):
        product[j] = c[j] - product[j] * gram.scale[j]
    return product


@kernel(fastmath={"contract"})
def add_rows(rows: Any, slots: Ints, u: Floats, out: Floats) -> None:
    """out += Σ_k u_k·rows[slot_k], four rows at a time and by tiles that stay in the first cache."""
    fours = slots.size // 4 * 4
    for start in range(0, out.size, TILE):
        tile = out[start : start + TILE]
        part = slice(start, start + TILE)
        for i in range(0, fours, 4):
            a, b, c, d = slots[i], slots[i + 1], slots[i + 2], slots[i + 3]
            add_four(rows[a, part], rows[b, part], rows[c, part], rows[d, part], u[i : i + 4], tile)
        for i in range(fours, slots.size):
            row, factor = rows[slots[i], part], u[i]
            for j in range(tile.size):
                tile[j] += factor * row[j]


@kernel(fastmath={"contract"})
def add_four(a: Any, b: Any, c: Any, d: Any, factors: Any, out: Any) -> None:
    """out += Σ of four rows, each times its factor: `out` is read and written once instead of four times."""
    of_a, of_b, of_c, of_d = factors[0], factors[1], factors[2], factors[3]
    for j in range(out.size):
        out[j] += (of_a * a[j] + of_b * b[j]) + (of_c * c[j] + of_d * d[j])


@kernel()
def fill_gram(gram: Rows, features: Ints, first: int, out: Any) -> None:
    """out[a, b] = out[b, a] = the entry of features[a] and features[b]; those before `first` are there already."""
    sums, base, scale = gram.sums[features], gram.base[features], gram.scale[features]
    for a in range(first, features.size):
        row, entries = gram.rows[gram.slot[features[a]]], out[a]
        share_a, base_a, scale_a = sums[a] / gram.n, base[a], scale[a]
        for b in range(a):
            entries[b] = (row[features[b]] + (base[b] + base_a - share_a * sums[b])) * (scale[b] * scale_a)
    if gram.row_beyond.size > 0:
        place = _places(features, gram.slot.size)
        for i in range(gram.row_beyond.size):
            a, b = place[gram.row_beyond[i]], place[gram.column_beyond[i]]
            if a >= first and 0 <= b < a:
                out[a, b] += np.float32(gram.excess_beyond[i] * scale[b] * scale[a])
    _mirror(out, first, features.size)


@kernel()
def _places(features: Ints, d: int) -> Ints:
    """Where each of d columns stands in `features`; −1 for the others."""
    place = np.full(d, -1)
    for i in range(features.size):
        place[features[i]] = i
    return place


@kernel()
def _mirror(gram: Any, first: int, size: int) -> None:
    """gram[b, a] = gram[a, b] for b < a, `first` ≤ a < `size`, and 1 for b = a; in squares that stay in the cache."""
    for a in range(first, size):
        gram[a, a] = 1.0
    for top in range(first, size, SQUARE):
        bottom = min(top + SQUARE, size)
        for left in range(0, bottom, SQUARE):
            for b in range(left, min(left + SQUARE, bottom)):
                for a in range(max(top, b + 1), bottom):
                    gram[b, a] = gram[a, b]
