"""Bits of 64-bit words, by the processor's own instructions: how many are 1, which is the first, how many in common?

The last counts for the LASSO where tables are not worth it (`pair_counts`), by Harley and Seal's method (Muła, Kurz
and Lemire, "Faster population counts using AVX2 instructions", 2018): sixteen words are added up bit by bit with
carry-save adders, so that only every sixteenth word's bits must be counted. Numba has no words of 256 bits; this writes
the loop in LLVM's language, which has, for any processor.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from datamodels_inf.kernels import STEP
from datamodels_inf.kernels.compiled import check_layout

LEVELS = 4
LANES = STEP // 2**LEVELS
"""Words of a vector; STEP words are taken at a time."""


@intrinsic
def ones(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are 1."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), write


@intrinsic
def lowest_one(typing_context: Any, word: Any) -> Any:
    """The number of the lowest bit that is 1; there must be one."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), write


@intrinsic
def common_ones(typing_context: Any, a: Any, b: Any) -> Any:
    """popcount(a & b) of two contiguous arrays of 64-bit words, both of length a.size, a multiple of STEP."""
    check_layout((a, types.uint64), (b, types.uint64))
    return types.int64(a, b), _write_loop


def _write_loop(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    word, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), LANES)
    zero = ir.Constant(vector, [0] * LANES)
    arrays = [
        context.make_array(kind)(context, builder, value) for kind, value in zip(signature.args, arguments, strict=True)
    ]
    starts = [builder.bitcast(array.data, vector.as_pointer()) for array in arrays]
    tools: Any = cgutils  # It has no types.
    ones_of = tools.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector]), f"llvm.ctpop.v{LANES}i64")
    # sums[l] holds bits that count 2^l each; the last one numbers, of sixteens.
    sums = [tools.alloca_once_value(builder, zero) for _ in range(LEVELS + 1)]
    length = builder.extract_value(arrays[0].shape, 0)
    with tools.for_range(builder, builder.sdiv(length, ir.Constant(length.type, STEP))) as loop:
        first = builder.mul(loop.index, ir.Constant(loop.index.type, 2**LEVELS))
        held = [builder.load(cell) for cell in sums]

        def load(k: int) -> Any:
            place = builder.add(first, ir.Constant(first.type, k))
            words = [builder.load(builder.gep(start, [place])) for start in starts]
            for loaded in words:
                loaded.align = 8
            return builder.and_(*words)

        def carry(level: int, k: int) -> Any:
            """Add the 2^level vectors from the k-th on to what is held; what they carry over to this level."""
            if level == 0:
                return load(k)
            y, z = carry(level - 1, k), carry(level - 1, k + 2 ** (level - 1))
            x = held[level - 1]
            half = builder.xor(x, y)
            held[level - 1] = builder.xor(half, z)
            return builder.or_(builder.and_(x, y), builder.and_(half, z))

        sixteens = carry(LEVELS, 0)
        held[LEVELS] = builder.add(held[LEVELS], builder.call(ones_of, [sixteens]))
        for cell, value in zip(sums, held, strict=True):
            builder.store(value, cell)
    total = builder.mul(builder.load(sums[LEVELS]), ir.Constant(vector, [2**LEVELS] * LANES))
    for level in range(LEVELS):
        ones = builder.call(ones_of, [builder.load(sums[level])])
        total = builder.add(total, builder.mul(ones, ir.Constant(vector, [2**level] * LANES)))
    lanes = [builder.extract_element(total, ir.Constant(ir.IntType(32), lane)) for lane in range(LANES)]
    result = ir.Constant(word, 0)
    for lane in lanes:
        result = builder.add(result, lane)
    return result
