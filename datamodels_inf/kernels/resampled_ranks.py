"""Spearman's correlation of resampled models, without sorting them again.

A resample that takes model m c_m times has ranks that a single walk through the models in their old order gives: a
group of equal values whose models were taken g times in all, with b before it, has the mean rank b + (g + 1)/2.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int16, int64
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.compiled import kernel


@kernel()
def _centred_ranks(counts: NDArray[np.int16], order: Ints, last: NDArray[np.bool_], middle: float, out: Floats) -> None:
    """Mean ranks less `middle`, by model; `last` says which place of `order` is the last of its group."""
    before, start, taken = 0, 0, 0
    for place in range(len(order)):
        taken += counts[order[place]]
        if last[place]:
            rank = before + (taken + 1) / 2.0 - middle
            for inside in range(start, place + 1):
                out[order[inside]] = rank
            before, start, taken = before + taken, place + 1, 0


@kernel(int16[:, ::1], int64[::1], boolean[::1], int64[::1], boolean[::1], float64[::1])
def resampled_spearman(
    counts: NDArray[np.int16],
    order_x: Ints,
    last_x: NDArray[np.bool_],
    order_y: Ints,
    last_y: NDArray[np.bool_],
    out: Floats,
) -> None:
    """out[b]: the rank correlation in the resample that takes model m counts[b, m] times; NaN if one is constant."""
    n = len(order_x)
    x, y = np.empty(n), np.empty(n)
    for b in range(len(counts)):
        middle = (n + 1) / 2.0
        _centred_ranks(counts[b], order_x, last_x, middle, x)
        _centred_ranks(counts[b], order_y, last_y, middle, y)
        xx, yy, xy = 0.0, 0.0, 0.0
        for m in range(n):
            c = counts[b, m]
            xx += c * x[m] * x[m]
            yy += c * y[m] * y[m]
            xy += c * x[m] * y[m]
        out[b] = xy / np.sqrt(xx * yy) if xx > 0.0 and yy > 0.0 else np.nan
