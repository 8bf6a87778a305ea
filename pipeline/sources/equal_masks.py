"""Rows of equal masks made one: models that were trained on the same images with other seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.sources.mask_rows import CHUNK_ROWS


@dataclass(frozen=True)
class Groups:
    """Rows that are made one: `order` holds the rows group by group, and group g begins at bounds[g]."""

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def single(cls, rows: NDArray[np.int64]) -> Groups:
        """Each row a group of its own."""
        return cls(rows, np.arange(len(rows) + 1))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def first(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first row of each of these groups."""
        return self.order[self.bounds[groups]]

    def rows(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """All rows of these groups, group by group."""
        if len(self) == len(self.order):
            return self.order[groups]
        return np.concatenate([self.order[self.bounds[g] : self.bounds[g + 1]] for g in groups.tolist()])

    def averaged(self, groups: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
        """The mean of each group, of `values` of its rows; a group of one row is left as it is, to the bit."""
        sizes = self.bounds[groups + 1] - self.bounds[groups]
        if (sizes == 1).all():
            return values
        starts = np.cumsum(sizes) - sizes
        sums: NDArray[np.float64] = np.add.reduceat(values.astype(np.float64), starts, axis=0)
        return sums / sizes[:, None]


def group_by_mask(
    bits: Callable[[NDArray[np.int64]], NDArray[np.uint8]], rows: NDArray[np.int64], n_train: int
) -> Groups:
    """The rows by their masks, in the order in which a mask is seen first."""
    from datamodels_inf.masks import PackedMasks, row_hashes

    chunks = (rows[start : start + CHUNK_ROWS] for start in range(0, len(rows), CHUNK_ROWS))
    hashes = np.concatenate([row_hashes(PackedMasks(bits(chunk), n_train)) for chunk in chunks])
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    seen = first[group]  # Of each row, the first with its mask.
    order = np.argsort(seen, kind="stable")
    starts = np.flatnonzero(np.diff(seen[order], prepend=-1))
    return Groups(rows[order], np.append(starts, len(rows)))
