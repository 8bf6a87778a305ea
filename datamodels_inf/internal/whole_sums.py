"""Sums over the rows and columns of masks that are exact: numbers are rounded once, to whole steps of a power of two.

A sum of whole numbers does not depend on its order, so neither does it on tiles or threads. The step is a 2⁻⁴⁸ of the
largest number or less for 10,000 summands, so that a rounded sum agrees with the true one to 14 digits of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.threads import even_slices, in_threads
from datamodels_inf.kernels import read_only
from datamodels_inf.masks import PackedMasks

Tell: TypeAlias = Callable[[float], object] | None

COPIED = 8
"""Words that the kernels copy together (kernels/subset_tables.py): rows and columns are padded to a multiple."""
AT_ONCE = 2048
"""Columns, or rows, that a thread takes."""
ROWS_AT_ONCE = 512
"""Of many targets: their tables are made once for so many rows, and several threads have enough to share."""


@dataclass(frozen=True, eq=False)
class WholeNumbers:
    """Columns of values ≈ step[t]·whole[:, t]; sums of all of a column's numbers stay below 2⁶²."""

    whole: Ints
    step: Floats

    @classmethod
    def of(cls, values: Floats) -> WholeNumbers:
        """(n, T) or (n,) finite values."""
        columns = values if values.ndim == 2 else values[:, None]
        largest = np.abs(columns).max(axis=0, initial=0.0)
        bits = 62 - math.ceil(math.log2(max(2, len(columns))))
        _, exponent = np.frexp(largest)  # largest < 2^exponent
        step = np.ldexp(1.0, exponent.astype(np.int64) - bits)
        return cls(np.rint(columns / step).astype(np.int64), step)

    @classmethod
    def finest(cls, values: Floats) -> WholeNumbers:
        """In the smallest steps with which sums stay below 2⁶²: by Σ|v|, which is often far less than n·max|v|."""
        _, largest = np.frexp(np.abs(values).max(axis=0, initial=0.0))
        total = np.ldexp(np.abs(values), -largest).sum(axis=0)  # Of numbers up to 1: no sum overflows.
        _, exponent = np.frexp(total)
        step = np.ldexp(1.0, np.maximum(largest.astype(np.int64) + exponent - 61, -1074))
        return cls(np.rint(values / step).astype(np.int64), step)


class ColumnWords:
    """Masks transposed once, for sums over columns of 16 targets at a time."""

    def __init__(self, masks: PackedMasks, threads: int) -> None:
        from datamodels_inf.kernels.coordinate_descent import transpose_bits

        bits = masks.bits
        self.words = np.zeros((masks.n_train, _padded(masks.n_models)), np.uint64)

        def transpose(start: int) -> None:
            transpose_bits(read_only(bits[start : start + AT_ONCE]), self.words, start // 64)

        in_threads(transpose, range(0, len(bits), AT_ONCE), threads)

    def sums(self, numbers: WholeNumbers, threads: int = 1, tell: Tell = None) -> Floats:
        """(n_train, T): Σ_m M_ml·v_mt of at most 16 targets. tell: is called with shares of the work."""
        return _sums(self.words, numbers, threads, tell)


class RowWords:
    """Masks padded, for sums over rows of 16 targets at a time."""

    def __init__(self, masks: PackedMasks) -> None:
        padded = np.zeros((masks.n_models, 8 * _padded(masks.n_train)), np.uint8)
        padded[:, : masks.bits.shape[1]] = masks.bits
        self.words: NDArray[np.uint64] = padded.view("<u8").astype(np.uint64, copy=False)

    def sums(self, numbers: WholeNumbers, threads: int = 1, tell: Tell = None) -> Floats:
        """(n_models, T): Σ_l M_ml·w_lt of at most 16 targets. tell: is called with shares of the work."""
        return _sums(self.words, _bitwise(numbers), threads, tell)


def products(
    masks: PackedMasks, weights: Floats, threads: int = 1, progress: Callable[[float], object] | None = None
) -> Floats:
    """(n_models, T): M w for `weights` (n_train, T), in one pass over the masks, which stay bits.

    Weights are rounded to whole multiples of a power of two that is at most 2⁻⁶⁰ of the Σ|w| of their target, and
    summed exactly. So there is no error for those that are such multiples already, as `scores.on_grid` makes them, and
    else one of at most n_train·2⁻⁶¹·Σ|w|, 2e-14 of Σ|w| for 50,000 images, which is what float64 has as well. Neither
    threads nor the number of targets change a bit of it. `progress` is called with rows, from one thread at a time.
    """
    from datamodels_inf.kernels.margin_sums import TARGETS

    starts = range(0, weights.shape[1], TARGETS)
    numbers = [_bitwise(WholeNumbers.finest(weights[:, start : start + TARGETS])) for start in starts]
    out, lock = np.empty((masks.n_models, weights.shape[1])), Lock()

    def multiply(rows: slice) -> None:
        words = RowWords(masks[rows]).words
        for start, some in zip(starts, numbers, strict=True):
            out[rows, start : start + TARGETS] = _sums(words, some)
        if progress is not None:
            with lock:
                progress(rows.stop - rows.start)

    in_threads(multiply, even_slices(masks.n_models, ROWS_AT_ONCE, threads), threads)
    return out


def column_sums(masks: PackedMasks, values: Floats, threads: int) -> Floats:
    """(n_train,): Σ_m M_ml·v_m of one target, without a transposed copy."""
    from datamodels_inf.kernels.bit_sums import add_columns

    numbers = WholeNumbers.of(values)
    whole, totals = np.ascontiguousarray(numbers.whole[:, 0]), np.zeros(masks.n_train, np.int64)
    bits = read_only(masks.bits)

    def add(piece: slice) -> None:
        add_columns(bits, piece.start, piece.stop, whole, totals)

    in_threads(add, even_slices(masks.bits.shape[1], AT_ONCE, threads), threads)
    return np.asarray(totals * numbers.step[0])


def row_sums(masks: PackedMasks, values: Floats, threads: int) -> Floats:
    """(n_models,): Σ_l M_ml·w_l of one target."""
    from datamodels_inf.kernels.bit_sums import add_rows

    numbers = WholeNumbers.of(values)
    whole, totals = np.ascontiguousarray(numbers.whole[:, 0]), np.zeros(masks.n_models, np.int64)

    def add(piece: slice) -> None:
        add_rows(read_only(masks.bits[piece]), whole, totals[piece])

    in_threads(add, even_slices(masks.n_models, AT_ONCE, threads), threads)
    return np.asarray(totals * numbers.step[0])


def _bitwise(numbers: WholeNumbers) -> WholeNumbers:
    """In the order of the bits of a word: of eight images, the first is the last bit."""
    whole = np.zeros((-(-len(numbers.whole) // 8) * 8, numbers.whole.shape[1]), np.int64)
    whole[: len(numbers.whole)] = numbers.whole
    return WholeNumbers(whole.reshape(-1, 8, whole.shape[1])[:, ::-1].reshape(whole.shape), numbers.step)


def _sums(words: NDArray[np.uint64], numbers: WholeNumbers, threads: int = 1, tell: Tell = None) -> Floats:
    from datamodels_inf.kernels.margin_sums import TARGETS, add_steps

    count = numbers.whole.shape[1]
    steps = np.zeros((64 * words.shape[1], TARGETS), np.int64)
    steps[: len(numbers.whole), :count] = numbers.whole
    totals = np.zeros((len(words), TARGETS), np.int64)

    def add(start: int) -> None:
        some = slice(start, start + AT_ONCE)
        add_steps(words[some], 0, steps, totals[some])
        if tell is not None:
            tell(len(words[some]) / len(words))

    in_threads(add, range(0, len(words), AT_ONCE), threads)
    return totals[:, :count] * numbers.step


def _padded(bits: int) -> int:
    """Words for so many bits, a multiple of COPIED."""
    return -(-bits // (64 * COPIED)) * COPIED
