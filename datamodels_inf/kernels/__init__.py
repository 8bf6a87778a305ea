"""Compiled loops, each with a plain twin that tests hold it against. Importing one brings Numba, so import it late."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 64
"""A column of bits has a multiple of so many words: `popcount` takes them at a time."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view of a contiguous copy, or of the array itself: for Numba, arrays that may be written to and that may not
    are of two types, and a kernel is compiled for one of them.
    """
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
