"""Scores on any scale, such as those of TRAK or of influence functions, made into predictions of margins.

An attribution method gives each training image a score s_l for a target, and Σ_l x_l s_l ranks masks x as the margins
y may do, but in a unit of its own. Least squares on rows that are not tested,

    (a, b) = argmin Σ_m (y_m − a·x_mᵀs − b)²,

gives the datamodel θ̂ = a·s with bias b. The test is valid without it; its power needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import BLOCK_BYTES
from datamodels_inf.internal.checks import Floats
from datamodels_inf.internal.whole_sums import products
from datamodels_inf.masks import FloatArray, PackedMasks
from datamodels_inf.scores import on_grid

ROWS_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Calibration:
    """One entry a target: θ̂ = scale·s, and its bias.

    r2_before: 1 − Σ(y − xᵀs − b₀)² / Σ(y − ȳ)² of the scores as they came, with the bias b₀ that they came with.
    r2_after: of the calibrated ones, the squared correlation of y and xᵀs; both on the rows of the calibration, and
    NaN where the margins are constant. constant: the scores predict the same for every mask; the scale is then 0.
    """

    scale: Floats
    bias: Floats
    r2_before: Floats
    r2_after: Floats
    constant: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Calibration]) -> Calibration:
        """Those of several blocks of targets, one after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def calibrate(
    scores: FloatArray,
    bias: FloatArray,
    masks: PackedMasks,
    margins: FloatArray,
    *,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Calibration:
    """Scale and bias of each column of `scores` (n_train, k), on `masks` and their `margins` (n, k).

    Block by block: beside its arguments it needs about `BLOCK_BYTES` of memory. `progress` is called with steps that
    add up to the number of columns.

    >>> rng = np.random.default_rng(0)
    >>> masks, theta = PackedMasks.from_bool(rng.random((400, 10)) < 0.5), rng.standard_normal((10, 1))
    >>> found = calibrate(100.0 * theta, np.zeros(1), masks, masks @ theta + 1.0)
    >>> found.scale.round(4), found.bias.round(4)
    (array([0.01]), array([1.]))
    """
    if scores.shape != (masks.n_train, margins.shape[1]) or bias.shape != (margins.shape[1],):
        raise ValueError(
            f"`scores` must have shape ({masks.n_train}, {margins.shape[1]}) and `bias` one entry a column, but they "
            f"are {scores.shape} and {bias.shape}."
        )
    if masks.n_models < 2 or len(margins) != masks.n_models:
        raise ValueError(f"`margins` must have one row for each of 2 or more masks, got {margins.shape}.")
    if not (np.isfinite(scores.min()) and np.isfinite(scores.max()) and np.isfinite(bias).all()):
        raise ValueError("`scores` and `bias` must be finite, but they hold NaN or infinity.")
    step = max(1, BLOCK_BYTES // (8 * (2 * masks.n_train + 4 * ROWS_AT_ONCE)))
    blocks = [slice(start, start + step) for start in range(0, len(bias), step)]
    advance = progress or (lambda step: None)
    return Calibration.joined(
        [_Sums(masks, margins[:, b], scores[:, b], bias[b], threads, advance).solve() for b in blocks]
    )


class _Sums:
    """Sums of p = xᵀs and y and of their products, over all rows, each measured from its value in the first row.

    Scores are in units of the largest, so that no square under- or overflows, and on the grid on which every p is
    exact, so that constant predictions differ by exactly 0.
    """

    def __init__(
        self,
        masks: PackedMasks,
        margins: FloatArray,
        scores: FloatArray,
        bias: FloatArray,
        threads: int,
        advance: Callable[[float], object],
    ) -> None:
        wide = scores.astype(np.float64)
        largest = np.abs(wide).max(axis=0)
        self.unit = np.where(largest == 0.0, 1.0, largest)
        rounded = np.empty(wide.shape)
        for column, scaled in zip(rounded.T, (wide / self.unit).T, strict=True):
            column[:] = on_grid(scaled)
        self.n = masks.n_models
        self.p = self.y = self.pp = self.py = self.yy = self.errors = np.zeros(len(bias))
        for start in range(0, self.n, ROWS_AT_ONCE):
            p = products(masks[start : start + ROWS_AT_ONCE], rounded, threads)
            y = margins[start : start + ROWS_AT_ONCE].astype(np.float64)
            if start == 0:
                self.first_p, self.first_y = p[0], y[0]
            with np.errstate(over="ignore"):
                self.errors = self.errors + ((y - self.unit * p - bias) ** 2).sum(axis=0)
            p, y = p - self.first_p, y - self.first_y
            self.p, self.y = self.p + p.sum(axis=0), self.y + y.sum(axis=0)
            self.pp, self.py = self.pp + (p * p).sum(axis=0), self.py + (p * y).sum(axis=0)
            self.yy = self.yy + (y * y).sum(axis=0)
            advance(len(bias) * len(y) / self.n)

    def solve(self) -> Calibration:
        constant, flat = self.pp == 0.0, self.yy == 0.0
        s_pp = np.where(constant, 1.0, self.pp - self.p * self.p / self.n)
        s_yy = np.where(flat, np.nan, self.yy - self.y * self.y / self.n)
        s_py = np.where(constant | flat, 0.0, self.py - self.p * self.y / self.n)
        slope = s_py / s_pp
        mean_p, mean_y = self.first_p + self.p / self.n, self.first_y + self.y / self.n
        return Calibration(
            scale=slope / self.unit,
            bias=mean_y - slope * mean_p,
            r2_before=1.0 - self.errors / s_yy,
            r2_after=slope * s_py / s_yy,
            constant=constant,
        )
