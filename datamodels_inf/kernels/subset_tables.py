"""Sums over the models that a column holds, looked up: the "method of the four Russians" (Arlazarov et al., 1970).

Of a few models, say five, a column holds one of 2⁵ subsets, and its bits are the number of the subset. What is to be
summed over a column's models is summed once for each subset, in a table with a line for each; a column then needs one
line for every five models. A line holds the sums of many things: one addition of vectors adds all of them.

Numba has no vectors; what is here writes the look-up in LLVM's language, for any processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from datamodels_inf.kernels.compiled import check_layout, kernel

CACHE_LINE = 64
"""Bytes."""
COPIED = 8
"""Words of each column that are copied together: as many as a line of the cache holds."""


def widths_of_word(width: int) -> tuple[int, ...]:
    """The 64 bits of a word in groups of `width`, the last one smaller."""
    return (width,) * (64 // width) + ((64 % width,) if 64 % width else ())


def aligned(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """An array without values that begins with a line of the cache, so that no vector lies in two of them."""
    size = prod(shape) * np.dtype(kind).itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % CACHE_LINE
    found: NDArray[Any] = memory[begin : begin + size].view(kind).reshape(shape)
    return found


@kernel()
def copy_words(words: Any, which: Ints, first: int, out: Any) -> None:
    """out[k, i] = the k-th run of words of column which[i], from word `first` on; COPIED words in all."""
    per_run = out.shape[2]
    for i in range(which.size):
        column = words[which[i], first : first + COPIED]
        for k in range(COPIED):
            out[k // per_run, i, k % per_run] = column[k]


@kernel(by_itself=True)
def tabulate(summands: Any, widths: tuple[int, ...], tables: Any) -> None:
    """Tables of groups of rows of `summands`, one behind the other: line e is the sum of the group's rows set in e."""
    line, row = 0, 0
    for width in widths:
        tables[line] = 0
        for more in range(width):
            for e in range(line, line + (1 << more)):
                add_row(tables, e + (1 << more), e, summands, row + more)  # type: ignore[call-arg]
        line, row = line + (1 << width), row + width


@intrinsic
def add_row(typing_context: Any, tables: Any, to: Any, line: Any, summands: Any, row: Any) -> Any:
    """tables[to] = tables[line] + summands[row]: contiguous, of one type, rows as long as a number of cache lines."""
    check_layout((tables, tables.dtype), (summands, tables.dtype))

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        vector = ir.VectorType(element, 8 * CACHE_LINE // element.width)
        word = ir.IntType(64)
        places = [pointer(context, builder, signature, arguments, k, vector) for k in (0, 0, 3)]
        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        steps = builder.sdiv(builder.extract_value(table.shape, 1), ir.Constant(word, vector.count))
        begins = [builder.mul(arguments[k], steps) for k in (1, 2, 4)]
        tools: Any = cgutils  # It has no types.
        with tools.for_range(builder, steps) as loop:
            target, *sources = (
                builder.gep(place, [builder.add(begin, loop.index)])
                for place, begin in zip(places, begins, strict=True)
            )
            builder.store(builder.add(*(load(builder, source) for source in sources)), target).align = 1
        return context.get_dummy_value()

    return types.none(tables, types.int64, types.int64, summands, types.int64), write


def lines(builder: Any, table: Any, words: Any, widths: Sequence[int], line: Any, size: int) -> Iterator[Any]:
    """For each group of bits: the line, a vector of `size` bytes, of its table that the bits are the number of.

    `table` points to bytes, one table behind the other; `words` to as many words as the groups take. No group may begin
    in one word and end in the next, and `size` must be a power of two.
    """
    word, start, bit = ir.IntType(64), 0, 0
    for width in widths:
        bits = builder.load(builder.gep(words, [ir.Constant(word, bit // 64)]))
        shift = bit % 64 - (size.bit_length() - 1)
        moved = (builder.lshr if shift > 0 else builder.shl)(bits, ir.Constant(word, abs(shift)))
        offset = builder.and_(moved, ir.Constant(word, (2**width - 1) * size))  # The number of the line, in bytes.
        place = builder.gep(builder.gep(table, [ir.Constant(word, start * size)]), [offset])
        yield load(builder, builder.bitcast(place, line.as_pointer()))
        start, bit = start + 2**width, bit + width


def load(builder: Any, place: Any) -> Any:
    """What is there, wherever it begins."""
    loaded = builder.load(place)
    loaded.align = 1
    return loaded


def add_to(builder: Any, place: Any, summand: Any) -> None:
    """*place += summand."""
    builder.store(builder.add(load(builder, place), summand), place).align = 1


def pointer(context: Any, builder: Any, signature: Any, arguments: Any, k: int, kind: Any) -> Any:
    """To the data of the k-th argument, an array."""
    array = context.make_array(signature.args[k])(context, builder, arguments[k])
    return builder.bitcast(array.data, kind.as_pointer())
