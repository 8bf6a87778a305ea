"""How many models were trained on both image j and image k, N_jk = popcount(column j & column k), for many j and k.

A few columns against many are counted one by one (`common_ones`). Up to 128 at a time are counted by tables (see
`subset_tables`): for each subset of five models a line holds how many of them each of the 128 columns has, in half a
byte a column, so 64 bytes. One line, looked up and added, does the work of 5 · 128 products of bits. After fifteen
models half a byte is full, and halves are added to bytes; after two words bytes to numbers of 16 bits, in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import int32, int64, types, uint8, uint16, uint64
from numba.extending import intrinsic

from datamodels_inf.internal.checks import Ints
from datamodels_inf.kernels.compiled import check_layout, kernel
from datamodels_inf.kernels.popcount import common_ones
from datamodels_inf.kernels.subset_tables import (
    CACHE_LINE,
    COPIED,
    add_to,
    aligned,
    copy_words,
    lines,
    pointer,
    tabulate,
    widths_of_word,
)

BLOCK = 16
"""Columns counted one by one against all others in one pass: they stay in a core's second cache at 300,000 models."""
LINE = CACHE_LINE
"""Bytes in a line of a table."""
LANES = 2 * LINE
"""Columns in a table: column b in the lower half of byte b, column LINE + b in the upper one."""
WORTH = 56
"""From so many columns on a table is faster, even if the others of its lanes are empty."""
WORDS = 2
"""Words looked up before bytes are added to numbers of 16 bits."""
WIDTHS = WORDS * widths_of_word(5)
LINES = sum(2**width for width in WIDTHS)
HALF = 15
"""The largest number in half a byte."""
FIRST_BITS = np.uint64(0x0101010101010101)
TILE = 64
ROUNDS = (2**16 - 1) // (64 * COPIED)
"""So often COPIED words are counted before a number of 16 bits could overflow."""


def count_common(words: Any, features: Ints, which: Ints, first: int, last: int, counts: Any) -> None:
    """counts[b, i] = popcount(words[features[b]] & words[which[i]]), over the words from `first` to `last`.

    Their number must be a multiple of `popcount.STEP`.
    """
    rest = features.size % LANES
    tabled = features.size - (rest if rest < WORTH else 0)
    if tabled > 0:
        tables, bits = aligned((LINES, LINE), np.uint8), aligned((64 * WORDS, LINE), np.uint8)
        lane_bytes = aligned((8, LANES), np.uint8)
        columns = np.empty((COPIED // WORDS, which.size, WORDS), np.uint64)
        sums = aligned((-(-tabled // LANES), which.size, LANES), np.uint16)
        sums[:] = 0
        memory = tables, lane_bytes, lane_bytes.view(np.uint64), bits, bits.view(np.uint64), columns, sums
        count_by_tables(words, features[:tabled], which, first, last, counts, *memory)
    if tabled < features.size:
        count_one_by_one(words, features[tabled:], which, first, last, counts[tabled:])


@kernel(uint64[:, ::1], int64[::1], int64[::1], int64, int64, int32[:, ::1])
def count_one_by_one(words: Any, features: Ints, which: Ints, first: int, last: int, counts: Any) -> None:
    """`count_common` for a few features."""
    for start in range(0, features.size, BLOCK):
        for i in range(which.size):
            column = words[which[i], first:last]
            for b in range(start, min(start + BLOCK, features.size)):
                counts[b, i] = common_ones(column, words[features[b], first:last])  # type: ignore[call-arg]


@kernel(
    uint64[:, ::1], int64[::1], int64[::1], int64, int64, int32[:, ::1], uint8[:, ::1], uint8[:, ::1],
    uint64[:, ::1], uint8[:, ::1], uint64[:, ::1], uint64[:, :, ::1], uint16[:, :, ::1],
)  # fmt: skip
def count_by_tables(
    words: Any,
    features: Ints,
    which: Ints,
    first: int,
    last: int,
    counts: Any,
    tables: Any,
    lane_bytes: Any,
    lane_words: Any,
    bits: Any,
    bit_words: Any,
    columns: Any,
    sums: Any,
) -> None:
    """`count_common` for many features, with its memory; `lane_words` and `bit_words` are views of the bytes."""
    for b in range(features.size):
        for i in range(which.size):
            counts[b, i] = 0
    for start in range(first, last, COPIED):
        copy_words(words, which, start, columns)
        for block in range(sums.shape[0]):
            lanes = features[block * LANES : (block + 1) * LANES]
            for k in range(COPIED // WORDS):
                _lay_out(words, lanes, start + k * WORDS, lane_bytes, lane_words, bit_words)
                tabulate(bits, WIDTHS, tables)
                for i in range(which.size):
                    add_lines(tables, columns[k, i], sums[block, i])  # type: ignore[call-arg]
        if start + COPIED >= last or (start - first) // COPIED % ROUNDS == ROUNDS - 1:
            for block in range(sums.shape[0]):
                _add_transposed(sums[block], counts[block * LANES : min((block + 1) * LANES, features.size)])


@kernel()
def _add_transposed(sums: Any, counts: Any) -> None:
    """counts[b, i] += sums[i, b], which becomes 0, by tiles that stay in the first cache."""
    for start in range(0, counts.shape[1], TILE):
        for b in range(counts.shape[0]):
            for i in range(start, min(start + TILE, counts.shape[1])):
                counts[b, i] += sums[i, b]
                sums[i, b] = 0


@kernel()
def _lay_out(words: Any, lanes: Ints, first: int, lane_bytes: Any, eights: Any, out: Any) -> None:
    """out[r] = bit r of each lane, from word `first` on, two lanes a byte; lanes beyond the last are empty."""
    for k in range(WORDS):
        for b in range(LANES):
            word = words[lanes[b], first + k] if b < lanes.size else np.uint64(0)
            for r in range(8):
                lane_bytes[r, b] = word >> np.uint64(8 * r)
        for r in range(64):
            shift = np.uint64(r % 8)
            for b in range(LINE // 8):
                lower = (eights[r // 8, b] >> shift) & FIRST_BITS
                upper = (eights[r // 8, LINE // 8 + b] >> shift) & FIRST_BITS
                out[64 * k + r, b] = lower | (upper << np.uint64(4))


@intrinsic
def add_lines(typing_context: Any, tables: Any, column: Any, sums: Any) -> Any:
    """sums[b] += Σ over the groups of bits of `column`, WORDS words, of lane b in that line of the group's table."""
    check_layout((tables, types.uint8), (column, types.uint64), (sums, types.uint16))

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8), ir.IntType(64)
        vector, wide = ir.VectorType(byte, LINE), ir.VectorType(ir.IntType(16), LINE)
        table, words, sum_of = (
            pointer(context, builder, signature, arguments, k, kind) for k, kind in enumerate((byte, word, wide))
        )
        zero, lower_half, four = (ir.Constant(vector, [value] * LINE) for value in (0, HALF, 4))
        halves, held, most = [zero, zero], zero, 0

        def spread() -> list[Any]:
            parts = (builder.and_(held, lower_half), builder.lshr(held, four))
            return [builder.add(half, part) for half, part in zip(halves, parts, strict=True)]

        for width, line in zip(WIDTHS, lines(builder, table, words, WIDTHS, vector, LINE), strict=True):
            if most + width > HALF:
                halves, held, most = spread(), zero, 0
            held, most = builder.add(held, line), most + width
        for k, half in enumerate(spread()):
            add_to(builder, builder.gep(sum_of, [ir.Constant(word, k)]), builder.zext(half, wide))
        return context.get_dummy_value()

    return types.none(tables, column, sums), write
