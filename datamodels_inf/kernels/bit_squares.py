"""Squares of 8 × 8 bits, transposed in a register."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from datamodels_inf.kernels.compiled import kernel

BITS = types.Array(types.uint8, 2, "C", readonly=True)
"""Packed masks at a door: memory-mapped ones are read-only, and what is not becomes so (`read_only`)."""


@kernel()
def transposed_square(bits: Any, top: int, rows: int, b: int) -> Any:
    """Byte b of rows top … top + rows − 1, at most eight, packed as np.packbits does, as a word: its byte 7 − c holds
    column 8b + c, bit r of it row top + r. Three rounds of exchanges, of distance 7, 14 and 28.
    """
    x = np.uint64(0)
    for r in range(rows):
        x |= np.uint64(bits[top + r, b]) << np.uint64(8 * r)
    t = (x ^ (x >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
    x ^= t ^ (t << np.uint64(7))
    t = (x ^ (x >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
    x ^= t ^ (t << np.uint64(14))
    t = (x ^ (x >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
    return x ^ t ^ (t << np.uint64(28))
