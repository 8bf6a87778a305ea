"""A family of tests as counts: how many have which z-score on the fit rows, and which power on the tested ones.

Of each test, two numbers decide its prediction: z = Δ̂_fit/SE_fit and gain = efficiency·SE_fit/SE_test, so that a true
Δ makes the test's z-score N(gain·Δ/SE_fit, 1). Rounded to cells they can be counted in one pass over chunks in any
order, and all that is computed afterwards, of millions of tests as of thousands, is computed of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.internal.checks import Floats, Ints, as_array

Z_STEP = 0.05
"""Width of a cell in |z|."""
LARGEST_Z = 40.0
GAIN_STEP = 0.02
"""Width of a cell in log(gain): a hundredth of the gain to either side."""
GAINS = (1e-3, 1e3)
"""Beyond, a gain counts as its nearest: 0.001 is no power, and 1000 is all."""
UNKNOWN = np.int64(-1)
"""The cell of tests about which the fit rows know nothing."""
_COLUMNS = np.int64(round(LARGEST_Z / Z_STEP) + 1)
_LOWEST = np.int64(round(np.log(GAINS[0]) / GAIN_STEP))


def cells_of(z: ArrayLike, gain: ArrayLike) -> Ints:
    """The cell of each test; UNKNOWN where z is ±0/∞ of no evidence, that is where `gain` is infinite."""
    score, factor = np.broadcast_arrays(as_array("z", z).astype(np.float64), as_array("gain", gain).astype(np.float64))
    if np.isnan(score).any() or np.isnan(factor).any() or (factor < 0.0).any() or score.ndim != 1:
        raise ValueError("`z` and `gain` must be vectors without NaN, and no gain below 0.")
    column = np.rint(np.minimum(np.abs(score), LARGEST_Z) / Z_STEP).astype(np.int64)
    row = np.rint(np.log(np.clip(factor, *GAINS)) / GAIN_STEP).astype(np.int64) - _LOWEST
    return np.where(np.isinf(factor), UNKNOWN, row * _COLUMNS + column)


@dataclass(frozen=True, eq=False)
class CountedFamily:
    """`count` tests in each of `cells`, increasing; `+` joins two parts of a family."""

    cells: Ints
    count: Ints

    @classmethod
    def of(cls, cells: Ints) -> CountedFamily:
        """Of the cells of some tests."""
        found, count = np.unique(cells, return_counts=True)
        return cls(found, count.astype(np.int64))

    def __add__(self, other: CountedFamily) -> CountedFamily:
        cells, place = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        count = np.zeros(len(cells), np.int64)
        np.add.at(count, place, np.concatenate([self.count, other.count]))
        return CountedFamily(cells, count)

    @property
    def size(self) -> int:
        """m, the number of tests."""
        return int(self.count.sum())

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of which cells the fit rows know something."""
        return np.asarray(self.cells != UNKNOWN)

    @property
    def z(self) -> Floats:
        """|z| at the middle of each known cell."""
        return np.asarray(self.cells[self.known] % _COLUMNS * Z_STEP, np.float64)

    @property
    def gain(self) -> Floats:
        """At the middle of each known cell."""
        return np.asarray(np.exp((self.cells[self.known] // _COLUMNS + _LOWEST) * GAIN_STEP))

    def look_up(self, values: Floats, cells: Ints) -> Floats:
        """`values`, one a cell of the family, for each of `cells`, which must be among them."""
        place: Any = np.searchsorted(self.cells, cells)
        if not (self.cells[np.minimum(place, len(self.cells) - 1)] == cells).all():
            raise ValueError("`cells` must be those of tests that were counted, but one is not.")
        return np.asarray(values[place])
