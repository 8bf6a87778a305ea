"""Sums of margins over the models trained on an image, for 16 targets at a time, by tables (see `subset_tables`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import int64, types, uint64
from numba.extending import intrinsic

from datamodels_inf.internal.checks import Ints
from datamodels_inf.kernels.compiled import check_layout, kernel
from datamodels_inf.kernels.subset_tables import (
    COPIED,
    add_to,
    aligned,
    copy_words,
    lines,
    pointer,
    tabulate,
    widths_of_word,
)

TARGETS = 16
LINE = 8 * TARGETS
WIDTHS = widths_of_word(5)
LINES = sum(2**width for width in WIDTHS)


def add_steps(words: Any, first: int, steps: Ints, totals: Ints) -> None:
    """totals[j, t] += Σ_r bit r of words[j, first:] · steps[r, t], for TARGETS targets.

    `steps` has 64 rows a word, and words that are a multiple of COPIED.
    """
    tables = aligned((LINES, TARGETS), np.int64)
    columns = np.empty((COPIED, len(totals), 1), np.uint64)
    add_by_tables(words, first, steps, totals, np.arange(len(totals)), tables, columns)


@kernel(uint64[:, ::1], int64, int64[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], uint64[:, :, ::1])
def add_by_tables(words: Any, first: int, steps: Ints, totals: Ints, which: Ints, tables: Ints, columns: Any) -> None:
    """`add_steps`, with its memory; `which` is all columns."""
    for start in range(0, steps.shape[0] // 64, COPIED):
        copy_words(words, which, first + start, columns)
        for k in range(COPIED):
            tabulate(steps[64 * (start + k) : 64 * (start + k + 1)], WIDTHS, tables)
            for j in range(which.size):
                add_lines(tables, columns[k, j], totals[j])  # type: ignore[call-arg]


@intrinsic
def add_lines(typing_context: Any, tables: Any, column: Any, totals: Any) -> Any:
    """totals += Σ over the groups of bits of `column`, one word, of the line in the group's table."""
    check_layout((tables, types.int64), (column, types.uint64), (totals, types.int64))

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        vector = ir.VectorType(word, TARGETS)
        table, words, place = (
            pointer(context, builder, signature, arguments, k, kind)
            for k, kind in enumerate((ir.IntType(8), word, vector))
        )
        total = ir.Constant(vector, [0] * TARGETS)
        for line in lines(builder, table, words, WIDTHS, vector, LINE):
            total = builder.add(total, line)
        add_to(builder, place, total)
        return context.get_dummy_value()

    return types.none(tables, column, totals), write
