"""The Gram matrix of standardised mask columns, row by row and only where a fit asks for it.

With N_jk models trained on both j and k, n_j on j, of n in all, and s_j² = (n_j/n)(1 − n_j/n),

    (ZᵀZ)_jk / n = (N_jk − n_j n_k / n) / (n s_j s_k).

A row is kept as the int16 numbers N_jk − a_j − a_k: exact, and small for masks drawn at random. With γ the mean of
n_j/n, a_j is the integer next to γn_j − γ²n/2, so that a_j + a_k is n_j n_k / n but for (n_j − γn)(n_k − γn)/n, and
what is left spreads by about √n/4. The few that are larger (j = k, or columns nearly equal) are kept beside them.
At 50,000 columns a row takes 100 kB, and a LASSO needs only the rows of columns that ever come near a weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.threads import even_slices, in_threads
from datamodels_inf.kernels.gram_rows import Rows, add_to_rows, correlate, mirror_rows, set_rows
from datamodels_inf.kernels.pair_counts import LANES, count_common
from datamodels_inf.lasso.columns import COLUMNS_AT_ONCE, ColumnBits

ROWS_AT_ONCE = 2 * LANES
"""Rows counted or completed in one go: two tables of `pair_counts`."""
MOST = 2**15 - 1
"""The largest number that a row holds."""


class TooManyRowsError(ValueError):
    """More rows are needed at a time than are kept."""

    def __init__(self, needed: int, capacity: int) -> None:
        super().__init__(f"{needed} rows of the Gram matrix are needed at a time, {capacity} are kept.")
        self.needed, self.capacity = needed, capacity


class Gram:
    """Rows of the Gram matrix over the training rows, and after `take_all_rows` over all rows of `columns`.

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
        self._rows = np.empty((self.capacity, d), np.int16)
        self._slot = np.full(d, -1, np.int64)
        self._feature = np.full(self.capacity, -1, np.int64)
        self._asked = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self._full = np.zeros(self.capacity, np.bool_)
        """Whether a row counts the validation rows too."""
        self._beyond: dict[int, tuple[Ints, Floats]] = {}
        """What was cut off a row outside its diagonal: (columns, excess)."""
        self.all_rows = False
        self._may_exceed = False
        self._set_sums()

    def take_all_rows(self) -> None:
        """From now on count the validation rows too. Rows that are there are completed when next asked for."""
        if not self.all_rows:
            self.all_rows, before = True, self._base
            self._set_sums()
            self._moved = (before - self._base).astype(np.int64)

    def has(self, features: Ints) -> bool:
        """Whether all their rows are there, in the present count."""
        slots = self._slot[features]
        return bool((slots >= 0).all() and (self._full[slots] == self.all_rows).all())

    def require(self, features: Ints) -> None:
        """Count the rows that are not there yet."""
        if features.size > self.capacity:
            raise TooManyRowsError(features.size, self.capacity)
        self._clock += 1
        present = features[self._slot[features] >= 0]
        self._asked[self._slot[present]] = self._clock
        missing = features[self._slot[features] < 0]
        try:
            self._complete(present[self._full[self._slot[present]] != self.all_rows])
            for start in range(0, missing.size, ROWS_AT_ONCE):
                self._count(missing[start : start + ROWS_AT_ONCE])
        except BaseException:  # Interrupted: which rows are half made is not known.
            self._slot[:] = self._feature[:] = -1
            self._beyond.clear()
            raise
        finally:
            self._set_view()

    def correlate(self, c: Floats, features: Ints, w: Floats) -> Floats:
        """g = c − (ZᵀZ/n)·w, for all columns, w being 0 outside `features`."""
        return correlate(self.view, c, features, w)

    def _set_sums(self) -> None:
        training, validation = self.columns.sums
        self._part = self.columns.both if self.all_rows else self.columns.training
        self.n = self._part.n
        self.sums: Floats = (training + (validation if self.all_rows else 0)).astype(np.float64)
        variance = self.sums * (self.n - self.sums) / self.n
        self.scale = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
        """1/(√n·s_j), and 0 for a column that is constant."""
        mean = self.sums.mean()
        self._base = np.rint(mean * (self.sums - 0.5 * mean) / self.n)
        """a_j."""
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
            oldest = taken[np.argsort(self._asked[taken], kind="stable")[: count - free.size]]
            for gone in self._feature[oldest].tolist():
                self._slot[gone] = -1
                self._beyond.pop(gone, None)
            free = np.concatenate([free, oldest])
        return free

    def _count(self, missing: Ints) -> None:
        """Rows that are not there. What another row already holds is read from it: the matrix is symmetric."""
        slots = self._free_slots(missing.size)
        is_known = (self._slot >= 0) & (self._full[self._slot] == self.all_rows)
        known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)
        self._feature[slots], self._asked[slots], self._full[slots] = missing, self._clock, self.all_rows
        self._slot[missing] = slots
        base = self._base.astype(np.int64)

        def keep(piece: Ints, counts: NDArray[np.int32]) -> None:
            set_rows(counts, missing, piece, base, self._rows, slots, MOST)

        def mirror(piece: slice) -> None:
            mirror_rows(self._rows, self._slot[known[piece]], known[piece], slots, missing)

        self.columns.count_common(missing, unknown, self._part, keep)
        threads = self.columns.threads
        in_threads(mirror, even_slices(known.size, COLUMNS_AT_ONCE, threads), threads)
        self.counted += missing.size
        self._note_beyond(missing)

    def _complete(self, features: Ints) -> None:
        """Add the validation rows to rows that count the training rows alone; what was cut off stays so."""
        if features.size == 0:
            return
        every = np.arange(self.columns.n_columns)
        for start in range(0, features.size, ROWS_AT_ONCE):
            some = features[start : start + ROWS_AT_ONCE]
            slots = self._slot[some]

            def add(piece: Ints, counts: NDArray[np.int32], some: Ints = some, slots: Ints = slots) -> None:
                add_to_rows(counts, some, piece, self._moved, self._rows, slots, MOST)

            self.columns.count_common(some, every, self.columns.validation, add)
            self._rows[slots, some] = self._diagonal[some]
        self._full[self._slot[features]] = True
        self._note_beyond(features)

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
