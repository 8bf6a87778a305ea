"""Memory that is given back to the system: of files that were read, and of rows of an array that are not needed."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from datamodels_inf.internal.checks import Ints


def forget_pages(array: NDArray[Any]) -> None:
    """Let the system take back the memory of a memory-mapped file that has been read; it stays in its cache.

    Of the whole file, for an array that is a part of it. Not of a copy that may have been written to: that would be
    lost. Nothing happens to other arrays.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        file: Any = base.base
        if isinstance(base, np.memmap) and base.mode == "r" and hasattr(file, "madvise"):  # Not on Windows.
            file.madvise(mmap.MADV_DONTNEED)
        base = base.base


class RowMemory:
    """An array of n rows whose memory can be given back row by row; what was given back is 0 when it is used again."""

    def __init__(self, n_rows: int, n_columns: int, dtype: DTypeLike) -> None:
        self._map: mmap.mmap | None = None
        n_bytes = n_rows * n_columns * np.dtype(dtype).itemsize
        if n_bytes == 0 or not hasattr(mmap, "MADV_DONTNEED"):  # On Windows.
            self.array: NDArray[Any] = np.empty((n_rows, n_columns), dtype)
            return
        self._map = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):  # As numpy's own arrays have it.
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self.array = np.frombuffer(self._map, dtype).reshape(n_rows, n_columns)

    def forget(self, rows: Ints) -> None:
        """Give back the memory of these rows; of a page that another row shares, it stays."""
        if self._map is None or rows.size == 0:
            return
        width, page = self.array.strides[0], mmap.PAGESIZE
        for run in np.split(np.sort(rows), np.flatnonzero(np.diff(np.sort(rows)) > 1) + 1):
            start = -(-int(run[0]) * width // page) * page
            stop = (int(run[-1]) + 1) * width // page * page
            if stop > start:
                self._map.madvise(mmap.MADV_DONTNEED, start, stop - start)
