"""Columns of masks as runs of bits, rows in any order: what the compiled tests read.

Two columns of 10,000 masks are 2.5 kB, so that a pair is read at once and a million pairs need no more memory than the
columns that occur in them: at most as much as the packed masks themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from datamodels_inf.internal.threads import in_threads
from datamodels_inf.kernels import read_only
from datamodels_inf.masks import PackedMasks, count_ones
from datamodels_inf.scores import Features

Words: TypeAlias = NDArray[np.uint64]

PAIRS_AT_ONCE = 256
"""Pairs whose words are compared together."""
BYTES_AT_ONCE = 64
"""512 columns: 640 kB of 10,000 masks, which stay in a core's second cache while they are transposed."""


def used_columns(pairs: Ints) -> tuple[Ints, Ints, Ints]:
    """(the columns that occur in the (P, 2, g) `pairs`; left and right of each pair as (P, g) positions among them)."""
    used, position = np.unique(pairs, return_inverse=True)
    position = position.reshape(pairs.shape)
    return used, np.ascontiguousarray(position[:, 0]), np.ascontiguousarray(position[:, 1])


def is_masks(x: Features) -> bool:
    """Whether x has bits to gather: bit-packed or bool."""
    return isinstance(x, PackedMasks) or x.dtype == np.bool_


def column_words(x: Features, columns: Ints, rows: Ints | slice, threads: int) -> Words:
    """(k, ⌈rows/64⌉): bit r mod 64 of word r div 64 is x[rows[r], columns[k]]; bits beyond the last row are 0.

    `x` is bit-packed or bool, `columns` ascending.
    """
    from datamodels_inf.kernels.coordinate_descent import transpose_bits  # Brings Numba.

    if columns.size == 0:
        return np.zeros((0, 0), np.uint64)
    if not isinstance(x, PackedMasks):
        return column_words(PackedMasks.from_bool(x[:, columns]), np.arange(columns.size), rows, threads)
    bits: NDArray[np.uint8] = np.asarray(x.bits)
    n = len(range(*rows.indices(len(bits)))) if isinstance(rows, slice) else rows.size
    words = np.zeros((columns.size, -(-n // 64)), np.uint64)
    used, first = np.unique(columns >> 3, return_index=True)  # Bytes, and the first column in each.
    bounds = np.append(first, columns.size)

    def gather(start: int) -> None:
        stop = min(start + BYTES_AT_ONCE, used.size)
        block = bits[:, used[start:stop]][rows] if isinstance(rows, np.ndarray) else bits[rows][:, used[start:stop]]
        all_eight = np.zeros((8 * (stop - start), words.shape[1]), np.uint64)
        transpose_bits(read_only(block), all_eight, 0)
        part = slice(bounds[start], bounds[stop])
        byte = np.searchsorted(used[start:stop], columns[part] >> 3)
        words[part] = all_eight[8 * byte + (columns[part] & 7)]

    in_chunks(gather, used.size, BYTES_AT_ONCE, threads)
    return words


def count_changed(x: Features, pairs: Ints, threads: int) -> Ints:
    """For each of the (P, 2, g) pairs, the rows that change when its two groups are exchanged."""
    used, left, right = used_columns(pairs)
    words = column_words(x, used, slice(None), threads)
    changed = np.zeros(len(pairs), np.int64)

    def count(start: int) -> None:
        part = slice(start, start + PAIRS_AT_ONCE)
        differ = words[left[part]] ^ words[right[part]]
        changed[part] = count_ones(np.bitwise_or.reduce(differ, axis=1).view(np.uint8))

    in_chunks(count, len(pairs), PAIRS_AT_ONCE, threads)
    return changed


def in_chunks(work: Callable[[int], object], total: int, size: int, threads: int) -> None:
    """work(0), work(size), … up to `total`, in threads; a single chunk is not worth handing over."""
    starts = range(0, total, size)
    in_threads(work, starts, min(threads, max(1, len(starts))))
