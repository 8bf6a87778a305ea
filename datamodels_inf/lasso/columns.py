"""Masks column by column: who was trained on image j is one run of 64-bit words.

Rows of a mask matrix come packed by model (`PackedMasks`). Here they are transposed once, so that the number of models
trained on both image j and image k is an AND and a count of bits,

    N_jk = #{m : M_mj = M_mk = 1} = popcount(column j & column k),

exact. Sums Σ_m M_mj y_m are made of whole numbers (`Rounded`), so that their order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.mapped import forget_pages
from datamodels_inf.internal.threads import even_slices, in_threads
from datamodels_inf.kernels import STEP, read_only
from datamodels_inf.masks import PackedMasks

Words: TypeAlias = NDArray[np.uint64]

MASKS_AT_ONCE = 2048
MASKS_KEPT = 16 * MASKS_AT_ONCE
"""So many rows of a mapped file are read before its pages are given back: 0.2 GB of 50,000 images."""
COLUMNS_AT_ONCE = 2048


@dataclass(frozen=True)
class Part:
    """A run of rows that is counted on its own, and where its words are."""

    rows: slice
    words: slice

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.stop - self.rows.start)


class ColumnBits:
    """The columns of `masks` as words, in `parts`: runs of rows that end before the rows `ends`, one after the other.

    Each part begins with a word of its own; bits that belong to no row are 0. `told` is called with the shares of the
    masks that are transposed.
    """

    def __init__(
        self, masks: PackedMasks, ends: Sequence[int], threads: int, told: Callable[[float], object] | None = None
    ) -> None:
        rows = list(pairwise((0, *ends)))
        words = pairwise(accumulate((words_of(stop - start) for start, stop in rows), initial=0))
        self.parts = tuple(Part(slice(*own), slice(*where)) for own, where in zip(rows, words, strict=True))
        self.words: Words = np.zeros((masks.n_train, self.parts[-1].words.stop), np.uint64)
        self.threads = threads
        for part in self.parts:
            self._transpose(masks.bits[part.rows], part.words.start, told)

    @property
    def n_rows(self) -> int:
        """The number of models."""
        return int(self.parts[-1].rows.stop)

    @property
    def n_columns(self) -> int:
        """The number of images."""
        return len(self.words)

    def span(self, first: int, last: int) -> Part:
        """The parts from `first` to `last` − 1 as one."""
        start, stop = self.parts[first], self.parts[last - 1]
        return Part(slice(start.rows.start, stop.rows.stop), slice(start.words.start, stop.words.stop))

    @cached_property
    def sums(self) -> Ints:
        """(n_parts, n_columns): n_j of the rows of each part."""
        from datamodels_inf.kernels.coordinate_descent import count_ones

        sums = np.empty((len(self.parts), self.n_columns), np.int64)

        def count(piece: slice) -> None:
            for part, counts in zip(self.parts, sums, strict=True):
                count_ones(self.words[piece], part.words.start, part.words.stop, counts[piece])

        in_threads(count, even_slices(self.n_columns, COLUMNS_AT_ONCE, self.threads), self.threads)
        return sums

    def count_common(
        self,
        features: Ints,
        which: Ints,
        part: Part,
        use: Callable[[Ints, NDArray[np.int32]], None],
        told: Callable[[float], object] | None = None,
    ) -> None:
        """Call `use` with pieces of `which` and (features, piece): N_jk over the rows of a part; in several threads.

        `told` is called with each piece's share of a count of one column with all columns, over all rows.
        """
        from datamodels_inf.kernels.pair_counts import count_common

        def count(piece: slice) -> None:
            counts = np.empty((len(features), len(which[piece])), np.int32)
            count_common(self.words, features, which[piece], part.words.start, part.words.stop, counts)
            use(which[piece], counts)
            if told is not None:
                told(counts.size / self.n_columns * part.n / self.n_rows)

        in_threads(count, even_slices(len(which), COLUMNS_AT_ONCE, self.threads), self.threads)

    def weighted_sums(
        self, rounded: Sequence[Rounded], number: int, told: Callable[[float], object] | None = None
    ) -> Floats:
        """(n_targets, n_columns): Σ_m M_mj y_m of each of at most TARGETS targets over the rows of part `number`.

        `told` is called with shares of this for all parts.
        """
        from datamodels_inf.kernels.margin_sums import TARGETS, add_steps

        part = self.parts[number]
        steps = np.zeros((64 * (part.words.stop - part.words.start), TARGETS), np.int64)
        for t, y in enumerate(rounded):
            steps[: part.n, t] = y.steps
        totals = np.zeros((self.n_columns, TARGETS), np.int64)

        def add(piece: slice) -> None:
            add_steps(self.words[piece], part.words.start, steps, totals[piece])
            if told is not None:
                told((piece.stop - piece.start) / self.n_columns * part.n / self.n_rows)

        in_threads(add, even_slices(self.n_columns, COLUMNS_AT_ONCE, self.threads), self.threads)
        return np.stack([y.offset * self.sums[number] + y.step * totals[:, t] for t, y in enumerate(rounded)])

    def _transpose(self, bits: NDArray[np.uint8], first_word: int, told: Callable[[float], object] | None) -> None:
        from datamodels_inf.kernels.coordinate_descent import transpose_bits

        def transpose(start: int) -> None:
            rows = read_only(bits[start : start + MASKS_AT_ONCE])
            transpose_bits(rows, self.words, first_word + start // 64)
            if told is not None:
                told(len(rows) / self.n_rows)

        for start in range(0, len(bits), MASKS_KEPT):
            stop = min(len(bits), start + MASKS_KEPT)
            in_threads(transpose, range(start, stop, MASKS_AT_ONCE), self.threads)
            forget_pages(bits)


class Rounded:
    """Numbers y = offset + step·steps with whole steps from 0 to 2³² − 1, the step a 2⁻³² of the range of y.

    `values` is y rounded to that grid; a fit takes it for the data, so that sums over columns are exact.
    """

    LAST = 2**32 - 1

    def __init__(self, y: Floats) -> None:
        self.offset = float(y.min())
        self.step = (float(y.max()) - self.offset) / self.LAST
        steps = np.zeros(y.size)
        if self.step > 0:
            steps = np.minimum(np.rint((y - self.offset) / self.step), self.LAST)
        self.steps: NDArray[np.uint32] = steps.astype(np.uint32)

    @property
    def values(self) -> Floats:
        """offset + step·steps, off from y by at most half a step."""
        return self.offset + self.step * self.steps.astype(np.float64)


def words_of(rows: int) -> int:
    """Words of a column for so many rows: as many as `popcount` can take, STEP at a time."""
    return int(-(-rows // (64 * STEP)) * STEP)
