"""Sums over packed masks of whole numbers, for one target, without a transposed copy of the masks.

    along a column   c_l = Σ_m M_ml·v_m      (`add_columns`)
    along a row      f_m = Σ_l M_ml·w_l      (`add_rows`)

Eight numbers have 2⁸ sums; a byte of masks is the number of the one that is wanted (see `subset_tables`, which serves
many targets at a time). Whole numbers, so that the order of the sums does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from datamodels_inf.internal.checks import Ints
from datamodels_inf.kernels.bit_squares import BITS, transposed_square
from datamodels_inf.kernels.compiled import kernel

BYTES_AT_ONCE = 64
"""Of a row: the tables of 64 bytes, 128 kB, stay in a core's second cache."""


@kernel()
def fill_table(values: Ints, first: int, stop: int, reverse: bool, table: Ints) -> None:
    """table[e] = the sum of values[first + k] for the bits k of e, or for the bits 7 − k if `reverse`."""
    table[0] = 0
    for bit in range(8):
        k = first + (7 - bit if reverse else bit)
        value = values[k] if k < stop else 0
        for e in range(1 << bit):
            table[e + (1 << bit)] = table[e] + value


@kernel(BITS, int64, int64, int64[::1], int64[::1])
def add_columns(bits: Any, first: int, stop: int, values: Ints, totals: Ints) -> None:
    """totals[8b + c] += Σ_m bit (m, 8b + c) · values[m] for bytes b from `first` to `stop`, as np.packbits packs.

    Squares of 8 × 8 bits are transposed in a register, as in `transpose_bits`: a byte is then eight models of a column.
    """
    n = bits.shape[0]
    table = np.empty(256, np.int64)
    for top in range(0, n, 8):
        fill_table(values, top, n, False, table)
        last = min(8, n - top)
        for b in range(first, stop):
            x = transposed_square(bits, top, last, b)
            for c in range(min(8, totals.size - 8 * b)):
                totals[8 * b + c] += table[(x >> np.uint64(8 * (7 - c))) & np.uint64(255)]


@kernel(BITS, int64[::1], int64[::1])
def add_rows(bits: Any, values: Ints, totals: Ints) -> None:
    """totals[m] += Σ_l bit (m, l) · values[l]."""
    n, width = bits.shape
    tables = np.empty((BYTES_AT_ONCE, 256), np.int64)
    for start in range(0, width, BYTES_AT_ONCE):
        count = min(BYTES_AT_ONCE, width - start)
        for b in range(count):
            fill_table(values, 8 * (start + b), values.size, True, tables[b])
        for m in range(n):
            row, total = bits[m, start : start + count], 0
            for b in range(count):
                total += tables[b, row[b]]
            totals[m] += total
