"""Arrays that are memory-mapped files: what was read of them should not count as memory of the process."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
