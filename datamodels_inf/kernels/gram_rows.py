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


@kernel()
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
    """out += Σ_k u_k·rows[slot_k], eight rows at a time.

    Each from its beginning to its end: memory is fastest where it is read on and on, and `out` stays in the second
    cache. By tiles of `out` that stay in the first one it took twice as long.
    """
    eights = slots.size // 8 * 8
    for i in range(0, eights, 8):
        four, more = slots[i : i + 4], slots[i + 4 : i + 8]
        a, b, c, d = rows[four[0]], rows[four[1]], rows[four[2]], rows[four[3]]
        e, f, g, h = rows[more[0]], rows[more[1]], rows[more[2]], rows[more[3]]
        of_a, of_b, of_c, of_d = u[i], u[i + 1], u[i + 2], u[i + 3]
        of_e, of_f, of_g, of_h = u[i + 4], u[i + 5], u[i + 6], u[i + 7]
        for j in range(out.size):
            first = (of_a * a[j] + of_b * b[j]) + (of_c * c[j] + of_d * d[j])
            out[j] += first + ((of_e * e[j] + of_f * f[j]) + (of_g * g[j] + of_h * h[j]))
    for i in range(eights, slots.size):
        row, factor = rows[slots[i]], u[i]
        for j in range(out.size):
            out[j] += factor * row[j]


@kernel(fastmath={"contract"})
def add_four(a: Any, b: Any, c: Any, d: Any, factors: Any, out: Any) -> None:
    """out += Σ of four rows, each times its factor: `out` is read and written once instead of four times."""
    of_a, of_b, of_c, of_d = factors[0], factors[1], factors[2], factors[3]
    for j in range(out.size):
        out[j] += (of_a * a[j] + of_b * b[j]) + (of_c * c[j] + of_d * d[j])


@kernel()
def fill_gram(gram: Rows, features: Ints, order: Ints, first: int, out: Any) -> None:
    """out[a, b] = out[b, a] = the entry of features[a] and features[b]; those before `first` are there already.

    `order` sorts the features: a row of the matrix is read from left to right, as fast as memory gives it.
    """
    rising = np.empty(features.size, np.int64)
    for i in range(order.size):
        rising[i] = features[order[i]]
    sums, base, scale = chosen(gram.sums, rising), chosen(gram.base, rising), chosen(gram.scale, rising)
    per_model = 1.0 / gram.n
    read = np.empty(features.size)
    for a in range(first, features.size):
        k = features[a]
        row, entries = gram.rows[gram.slot[k]], out[a]
        sum_a, base_a, scale_a = gram.sums[k], gram.base[k], gram.scale[k]
        for i in range(rising.size):
            read[i] = row[rising[i]]
        for i in range(rising.size):  # All of it is the same with a and b exchanged, to the last bit.
            read[i] = (read[i] + ((base[i] + base_a) - (sums[i] * sum_a) * per_model)) * (scale[i] * scale_a)
        for i in range(rising.size):
            entries[order[i]] = read[i]
        entries[a] = 1.0
    if gram.row_beyond.size > 0:
        place = _places(features, gram.slot.size)
        for i in range(gram.row_beyond.size):
            a, b = place[gram.row_beyond[i]], place[gram.column_beyond[i]]
            if a >= first and b >= 0:
                factor = gram.scale[gram.row_beyond[i]] * gram.scale[gram.column_beyond[i]]
                out[a, b] += np.float32(gram.excess_beyond[i] * factor)
    _mirror(out, first, features.size)


@kernel()
def chosen(values: Floats, places: Ints) -> Floats:
    """values[places], by a loop: to index with an array takes long to compile."""
    found = np.empty(places.size)
    for i in range(places.size):
        found[i] = values[places[i]]
    return found


@kernel()
def _places(features: Ints, d: int) -> Ints:
    """Where each of d columns stands in `features`; −1 for the others."""
    place = np.empty(d, np.int64)
    for j in range(d):
        place[j] = -1
    for i in range(features.size):
        place[features[i]] = i
    return place


@kernel()
def _mirror(gram: Any, first: int, size: int) -> None:
    """gram[b, a] = gram[a, b] for b < `first` ≤ a < `size`, in squares that stay in the cache."""
    for top in range(first, size, SQUARE):
        for left in range(0, first, SQUARE):
            for b in range(left, min(left + SQUARE, first)):
                for a in range(top, min(top + SQUARE, size)):
                    gram[b, a] = gram[a, b]
