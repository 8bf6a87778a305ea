"""The Gram matrix of standardised mask columns, row by row and only where a fit asks for it.

With N_jk models trained on both j and k, n_j on j, of n in all, and s_j² = (n_j/n)(1 − n_j/n),

    (ZᵀZ)_jk / n = (N_jk − n_j n_k / n) / (n s_j s_k).

A row is kept as the int16 numbers N_jk − a_j − a_k: exact, and small for masks drawn at random. With γ the mean of
n_j/n, a_j is the integer next to γn_j − γ²n/2, so that a_j + a_k is n_j n_k / n but for (n_j − γn)(n_k − γn)/n, and
what is left spreads by about √n/4. The few that are larger (j = k, or columns nearly equal) are kept beside them.
At 50,000 columns a row takes 100 kB, and a LASSO needs only the rows of columns that ever come near a weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.mapped import RowMemory
from datamodels_inf.internal.threads import even_slices, in_threads
from datamodels_inf.kernels.coordinate_descent import descend_and_look
from datamodels_inf.kernels.gram_rows import Rows, add_to_rows, mirror_rows, set_rows
from datamodels_inf.kernels.pair_counts import LANES, count_common
from datamodels_inf.lasso.columns import COLUMNS_AT_ONCE, ColumnBits, Part

ROWS_AT_ONCE = 2 * LANES
"""Rows counted or completed in one go: two tables of `pair_counts`."""
MOST = 2**15 - 1
"""The largest number that a row holds."""
NO_SQUARE: NDArray[np.float32] = np.zeros((0, 0), np.float32)
"""Of no columns."""


class TooManyRowsError(ValueError):
    """More rows are needed at a time than are kept."""

    def __init__(self, needed: int, capacity: int) -> None:
        super().__init__(f"{needed} rows of the Gram matrix are needed at a time, {capacity} are kept.")
        self.needed, self.capacity = needed, capacity


class Gram:
    """Rows of the Gram matrix over the first `level` parts of `columns`: one, and more after `take`.

    Parameters
    ----------
    capacity : how many rows are kept; more push out those that were asked for the longest time ago.
    """

    def __init__(self, columns: ColumnBits, capacity: int) -> None:
        d = columns.n_columns
        self.columns = columns
        self.capacity = min(capacity, d)
        self.counted = 0
        """Rows counted so far: the work that was done."""
        self._memory = RowMemory(self.capacity, d, np.int16)
        self._rows: NDArray[np.int16] = self._memory.array
        self._slot = np.full(d, -1, np.int64)
        self._feature = np.full(self.capacity, -1, np.int64)
        self._asked = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self._parts = np.zeros(self.capacity, np.int64)
        """How many parts a row counts."""
        self._beyond: dict[int, tuple[Ints, Floats]] = {}
        """What was cut off a row outside its diagonal: (columns, excess)."""
        self.level = 1
        self._may_exceed = False
        self._bases: dict[int, Floats] = {}
        """a_j of each level so far."""
        self._set_sums()

    def take(self, level: int) -> None:
        """From now on count the first `level` parts. Rows that are there are completed when next asked for.

        There is no way back: it would count rows anew.
        """
        if level < self.level:
            raise ValueError(f"the Gram matrix counts {self.level} parts of the rows already, not {level}.")
        if level > self.level:
            self.level = level
            self._set_sums()

    def has(self, features: Ints) -> bool:
        """Whether all their rows are there, in the present count."""
        slots = self._slot[features]
        return bool((slots >= 0).all() and (self._parts[slots] == self.level).all())

    def work_of(self, sets: Sequence[Ints]) -> float:
        """About how many rows' counting it will be to `require` these sets, one after the other.

        With r rows there, a row is counted with 1 − r/d of all images. Of U rows that all sets need together at most C
        are kept, so that of those that are needed again a share 1 − C/U has gone. Rows that are there are completed by
        the parts that they lack.
        """
        d, needed = self.columns.n_columns, np.unique(np.concatenate([np.zeros(0, np.int64), *sets]))
        slots = self._slot[needed]
        there, missing = slots[slots >= 0], int(np.count_nonzero(slots < 0))
        again = max(0.0, 1.0 - self.capacity / max(1, needed.size)) * (sum(own.size for own in sets) - needed.size)
        before = int(np.count_nonzero(self._slot >= 0))
        after = min(self.capacity, before + missing)
        counted = missing * (1.0 - (before + after) / (2.0 * d)) + again * (1.0 - after / d)
        lacking = [self.columns.span(int(level), self.level).n for level in self._parts[there] if level < self.level]
        return counted + sum(lacking) / self.columns.n_rows * (1.0 - len(lacking) / (2.0 * d))

    def require(self, features: Ints, told: Callable[[float], object] | None = None) -> None:
        """Count the rows that are not there yet; `told` is called with each piece, as a share of a row."""
        if features.size > self.capacity:
            raise TooManyRowsError(features.size, self.capacity)
        self._clock += 1
        present = features[self._slot[features] >= 0]
        self._asked[self._slot[present]] = self._clock
        missing = features[self._slot[features] < 0]
        try:
            for some in self._incomplete(present):
                self._complete(some, told)
            for start in range(0, missing.size, ROWS_AT_ONCE):
                self._count(missing[start : start + ROWS_AT_ONCE], told)
        except BaseException:  # Interrupted: which rows are half made is not known.
            self._slot[:] = self._feature[:] = -1
            self._beyond.clear()
            raise
        finally:
            self._set_view()

    def release(self, n_bytes: float, keep: Ints) -> None:
        """Drop rows, but none of `keep`, until the others take at most `n_bytes` with these; give their memory back."""
        taken = np.flatnonzero(self._feature >= 0)
        surplus = taken.size - max(float(keep.size), n_bytes / self._rows.strides[0])
        if surplus > 0:
            others = taken[~np.isin(self._feature[taken], keep)]
            self._memory.forget(self._dropped(others, math.ceil(surplus)))
            self._set_view()

    def correlate(self, c: Floats, features: Ints, w: Floats) -> Floats:
        """g = c − (ZᵀZ/n)·w, for all columns, w being 0 outside `features`: what a descent of no steps looks at."""
        size = features.size
        return descend_and_look(self.view, NO_SQUARE, size, features, np.arange(size), w, c, c, 0.0, 0.0, 0.0, 0)[1]

    def _set_sums(self) -> None:
        self._part = self.columns.span(0, self.level)
        self.n = self._part.n
        self.sums: Floats = self.columns.sums[: self.level].sum(axis=0).astype(np.float64)
        variance = self.sums * (self.n - self.sums) / self.n
        self.scale = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
        """1/(√n·s_j), and 0 for a column that is constant."""
        mean = self.sums.mean()
        self._base = np.rint(mean * (self.sums - 0.5 * mean) / self.n)
        """a_j."""
        self._bases[self.level] = self._base
        # |N_jk − n_j n_k / n| ≤ n/4
        self._may_exceed |= self.n / 4 + np.abs(self.sums - mean).max() ** 2 / self.n + 2 > MOST
        diagonal = self.sums - 2 * self._base
        self._diagonal = np.clip(diagonal, -MOST, MOST)
        self._diagonal_excess = diagonal - self._diagonal
        self._set_view()

    def _set_view(self) -> None:
        cuts, excesses = [cut for cut, _ in self._beyond.values()], [excess for _, excess in self._beyond.values()]
        self.view = Rows(
            self._rows,
            self._slot,
            float(self.n),
            self.sums,
            self._base,
            self.scale,
            self._diagonal_excess,
            row_beyond=np.repeat(np.array(list(self._beyond), np.int64), [cut.size for cut in cuts]),
            column_beyond=np.concatenate([np.zeros(0, np.int64), *cuts]),
            excess_beyond=np.concatenate([np.zeros(0), *excesses]),
        )
        """The rows as compiled loops take them."""

    def _free_slots(self, count: int) -> Ints:
        free = np.flatnonzero(self._feature < 0)[:count]
        if free.size < count:
            taken = np.flatnonzero(self._feature >= 0)
            free = np.concatenate([free, self._dropped(taken, count - free.size)])
        return free

    def _dropped(self, slots: Ints, count: int) -> Ints:
        """Of the rows at `slots`, those that were asked for the longest time ago: they are no longer there."""
        oldest = slots[np.argsort(self._asked[slots], kind="stable")[:count]]
        for gone in self._feature[oldest].tolist():
            self._slot[gone] = -1
            self._beyond.pop(gone, None)
        self._feature[oldest] = -1
        return oldest

    def _count(self, missing: Ints, told: Callable[[float], object] | None) -> None:
        """Rows that are not there."""
        slots = self._free_slots(missing.size)
        base = self._base.astype(np.int64)

        def keep(piece: Ints, counts: NDArray[np.int32]) -> None:
            set_rows(counts, missing, piece, base, self._rows, slots, MOST)

        self._fill(missing, slots, self._part, keep, told)
        self._feature[slots], self._asked[slots] = missing, self._clock
        self._slot[missing], self._parts[slots] = slots, self.level
        self.counted += missing.size
        self._note_beyond(missing)

    def _incomplete(self, features: Ints) -> Iterator[Ints]:
        """Those that count fewer parts than they should, in pieces that count as many parts as each other."""
        parts = self._parts[self._slot[features]]
        for level in np.unique(parts[parts < self.level]):
            some = features[parts == level]
            yield from (some[start : start + ROWS_AT_ONCE] for start in range(0, some.size, ROWS_AT_ONCE))

    def _complete(self, features: Ints, told: Callable[[float], object] | None) -> None:
        """Add the parts that these rows lack, all of them the same ones; what was cut off stays so."""
        slots = self._slot[features]
        level = int(self._parts[slots[0]])
        moved = (self._bases[level] - self._base).astype(np.int64)

        def add(piece: Ints, counts: NDArray[np.int32]) -> None:
            add_to_rows(counts, features, piece, moved, self._rows, slots, MOST)

        self._fill(features, slots, self.columns.span(level, self.level), add, told)
        self._rows[slots, features] = self._diagonal[features]
        self._parts[slots] = self.level
        self._note_beyond(features)

    def _fill(
        self,
        features: Ints,
        slots: Ints,
        part: Part,
        use: Callable[[Ints, NDArray[np.int32]], None],
        told: Callable[[float], object] | None,
    ) -> None:
        """Rows at `slots`, by what `use` makes of counts; what another row holds is read from it, by symmetry."""
        is_known = (self._slot >= 0) & (self._parts[self._slot] == self.level)
        known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)

        def mirror(piece: slice) -> None:
            mirror_rows(self._rows, self._slot[known[piece]], known[piece], slots, features)

        self.columns.count_common(features, unknown, part, use, told)
        threads = self.columns.threads
        in_threads(mirror, even_slices(known.size, COLUMNS_AT_ONCE, threads), threads)

    def _note_beyond(self, features: Ints) -> None:
        """Count once more what was cut off outside the diagonal, and keep by how much."""
        if not self._may_exceed:
            return
        words = self._part.words
        for k in features.tolist():
            row = self._rows[self._slot[k]]
            cut = np.flatnonzero(np.abs(row) == MOST)
            cut = cut[cut != k]
            self._beyond.pop(k, None)
            if cut.size:
                counts = np.empty((1, cut.size), np.int32)
                count_common(self.columns.words, np.array([k]), cut, words.start, words.stop, counts)
                self._beyond[k] = (cut, counts[0] - self._base[cut] - self._base[k] - row[cut])
