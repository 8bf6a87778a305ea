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

from datamodels_inf.checks import Floats, Ints
from datamodels_inf.columns import BLOCK, COLUMNS_AT_ONCE, ColumnBits, even_slices, in_threads
from datamodels_inf.lasso_kernels import add_rows, count_rows, fill_gram, mirror_gram, mirror_rows

ROWS_AT_ONCE = 256
"""Rows counted or completed in one go: completing them takes 51 MB of counts at 50,000 columns."""

MOST = 2**15 - 1


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
            self._moved = (before - self._base).astype(np.int32)

    def has(self, features: Ints) -> bool:
        """Whether all their rows are there, in the present count."""
        slots = self._slot[features]
        return bool((slots >= 0).all() and (self._full[slots] == self.all_rows).all())

    def require(self, features: Ints) -> None:
        """Count the rows that are not there yet."""
        if features.size > self.capacity:
            more = 2 * self.columns.n_columns * (features.size - self.capacity) / 1e9
            raise ValueError(
                f"a solution has {features.size} images with a weight or near one, {self.capacity} fit in memory: "
                f"raise `memory_gb` by {more:.2g}, or end the path at a larger `lambda_ratio`."
            )
        self._clock += 1
        present = features[self._slot[features] >= 0]
        self._asked[self._slot[present]] = self._clock
        self._complete(present[self._full[self._slot[present]] != self.all_rows])
        missing = features[self._slot[features] < 0]
        for start in range(0, missing.size, ROWS_AT_ONCE):
            self._count(missing[start : start + ROWS_AT_ONCE])

    def correlate(self, c: Floats, features: Ints, w: Floats) -> Floats:
        """g = c − (ZᵀZ/n)·w, for all columns, w being 0 outside `features`."""
        u = w * self.scale[features]
        # Σ_k u_k·(a_j + a_k − n_j n_k / n), to which the rows add Σ_k u_k·(N_jk − a_j − a_k).
        product: Floats = (
            self._base * u.sum() + u @ self._base[features] - self.sums * (u @ self.sums[features] / self.n)
        )
        add_rows(self._rows, self._slot[features], u, product)
        product[features] += u * self._diagonal_excess[features]
        if self._beyond:
            for k, factor in zip(features.tolist(), u.tolist(), strict=True):
                if k in self._beyond:
                    columns, excess = self._beyond[k]
                    product[columns] += factor * excess
        product *= self.scale
        return c - product

    def fill(self, gram: NDArray[np.float32], features: Ints, first: int) -> None:
        """Write the entries of `features` against each other, where those before `first` are there already."""
        sums, base, scale = self.sums[features], self._base[features], self.scale[features]
        fill_gram(self._rows, self._slot[features], features, first, sums / self.n, sums, base, scale, gram)
        if self._beyond:
            self._fill_beyond(gram, features, first)
        mirror_gram(gram, first, features.size)

    def _fill_beyond(self, gram: NDArray[np.float32], features: Ints, first: int) -> None:
        place = {k: a for a, k in enumerate(features.tolist())}
        for k in features[first:].tolist():
            for j, excess in zip(*self._beyond.get(k, ((), ())), strict=True):
                if place.get(int(j), len(place)) < place[k]:
                    gram[place[k], place[int(j)]] += np.float32(excess * self.scale[j] * self.scale[k])

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

    def _free_slots(self, count: int) -> Ints:
        order = np.argsort(np.where(self._feature < 0, -1, self._asked), kind="stable")[:count]
        for gone in self._feature[order][self._feature[order] >= 0].tolist():
            self._slot[gone] = -1
            self._beyond.pop(gone, None)
        return order

    def _count(self, missing: Ints) -> None:
        """Rows that are not there. What another row already holds is read from it: the matrix is symmetric."""
        slots = self._free_slots(missing.size)
        known = np.flatnonzero(self._slot >= 0)
        known = known[self._full[self._slot[known]] == self.all_rows]
        unknown = np.setdiff1d(np.arange(self.columns.n_columns), known, assume_unique=True)
        self._feature[slots], self._asked[slots], self._full[slots] = missing, self._clock, self.all_rows
        self._slot[missing] = slots
        words, (first, last) = self.columns.words, (self._part.words.start, self._part.words.stop)

        def count(piece: Ints) -> None:
            for start in range(0, missing.size, BLOCK):
                some, places = missing[start : start + BLOCK], slots[start : start + BLOCK]
                count_rows(words, some, piece, first, last, self._base, self._rows, places, MOST)

        def mirror(piece: Ints) -> None:
            mirror_rows(self._rows, self._slot[piece], piece, slots, missing)

        for work, columns in ((count, unknown), (mirror, known)):
            threads = self.columns.threads
            in_threads(work, [columns[some] for some in even_slices(columns.size, COLUMNS_AT_ONCE, threads)], threads)
        self.counted += missing.size
        self._note_beyond(missing)

    def _complete(self, features: Ints) -> None:
        """Add the validation rows to rows that count the training rows alone; what was cut off stays so."""
        validation, every = self.columns.validation, np.arange(self.columns.n_columns)
        for start in range(0, features.size, ROWS_AT_ONCE):
            some = features[start : start + ROWS_AT_ONCE]
            more = self.columns.common(self.columns.words[some, validation.words], validation, every)
            more += self._moved + self._moved[some, None]
            for i, k in enumerate(some.tolist()):
                row = self._rows[self._slot[k]]
                row[:] = np.where(np.abs(row) == MOST, row, np.clip(row + more[i], -MOST, MOST))
                row[k] = self._diagonal[k]
        self._full[self._slot[features]] = True
        self._note_beyond(features)

    def _note_beyond(self, features: Ints) -> None:
        """Count once more what was cut off outside the diagonal, and keep by how much."""
        if not self._may_exceed:
            return
        for k in features.tolist():
            row = self._rows[self._slot[k]]
            cut = np.flatnonzero(np.abs(row) == MOST)
            cut = cut[cut != k]
            self._beyond.pop(k, None)
            if cut.size:
                count = self.columns.common(self.columns.words[[k], self._part.words], self._part, cut)[0]
                true = count - self._base[cut] - self._base[k]
                self._beyond[k] = (cut, true - row[cut])
