"""Scores T(x, y) that know how a swap changes them.

All three see x only through the linear predictor f = xᵀθ̂, and a swap of i and j is a rank-one change of it,

    xᵀθ̂  →  xᵀθ̂ + (x_j − x_i)(θ̂_i − θ̂_j),

so the predictor is computed once and each pair then costs O(n).

The test compares scores, and ties are decided by a coin; a tie must therefore not be decided by rounding, which
differs between the two ways to compute a swapped score. For an integer-valued x, such as a mask, θ̂ is rounded to a
dyadic grid that is so coarse (about 2⁻⁴² of Σ|θ̂|) that every sum is *exact* in float64, in any order. For any other x,
θ̂ stays as it is and differences within the rounding error of a sample's own sums count as ties.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.internal.checks import Floats, Ints, check_number, check_vector
from datamodels_inf.masks import PackedMasks

Features: TypeAlias = NDArray[np.generic] | PackedMasks

LARGEST_EXACT_INTEGER = 1024
"""Integer-valued features up to this size are summed exactly."""


def on_grid(theta: Floats) -> Floats:
    """θ rounded to multiples of q, where LARGEST_EXACT_INTEGER · Σ|θ| ≤ 2⁵² q."""
    with np.errstate(over="ignore"):
        total = float(np.abs(theta).sum())
    if total == 0.0 or not np.isfinite(total):
        return theta + 0.0
    exponent = int(np.ceil(np.log2(total))) + int(np.log2(LARGEST_EXACT_INTEGER)) - 52
    return np.asarray(np.ldexp(np.rint(np.ldexp(theta, -exponent)), exponent) + 0.0, np.float64)  # No −0.


def columns_of(x: Features, indices: Ints) -> NDArray[np.generic]:
    """The columns `indices` of dense or bit-packed features, (n, k)."""
    return x.columns(indices) if isinstance(x, PackedMasks) else x[:, indices]


def is_exact(x: Features) -> bool:
    """Whether sums of x over grid values are free of rounding: x integer-valued and of moderate size."""
    if isinstance(x, PackedMasks) or x.dtype.kind == "b" or x.size == 0:
        return True
    small = bool(x.min() >= -LARGEST_EXACT_INTEGER and x.max() <= LARGEST_EXACT_INTEGER)
    return small and (x.dtype.kind in "iu" or bool((x == np.rint(x)).all()))


class LinearScore(ABC):
    """A score value(k) of the key k = offset(y) + slope(y)·f, or of |k|; `value` is increasing."""

    absolute: bool

    def __init__(self, theta: ArrayLike) -> None:
        self.theta = check_vector("theta", theta) + 0.0  # No −0.

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d={self.theta.size})"

    @abstractmethod
    def affine(self, y: Floats) -> tuple[Floats, Floats]:
        """(offset, slope) of the key."""

    def value(self, key: Floats) -> Floats:
        """The score of a key."""
        return key

    def prepared(self, x: Features) -> Self:
        """This score with θ̂ on its grid, if sums over x are exact then; else itself."""
        if x.shape[1] != self.theta.size:
            raise ValueError(
                f"`theta` must have one entry per column of `x`, but it has {self.theta.size} for {x.shape[1]}."
            )
        if not is_exact(x):
            return self
        clone = copy(self)
        clone.theta = on_grid(self.theta)
        return clone

    def predictor(self, x: Features) -> Floats:
        """f = xᵀθ̂ of every row."""
        if isinstance(x, PackedMasks):
            return np.asarray(x @ self.theta, np.float64)
        return np.asarray(x.astype(np.float64, copy=False) @ self.theta)

    def coefficients(self, pairs: Ints) -> Floats:
        """θ̂_i − θ̂_j for every pair and group member, (P, g)."""
        return np.asarray(self.theta[pairs[:, 0]] - self.theta[pairs[:, 1]])

    def error_coefficients(self, pairs: Ints) -> Floats:
        """c·ε·(|θ̂_i| + |θ̂_j|) for every pair and group member, (P, g): the factors of `swap_rounding`."""
        sizes = np.abs(self.theta)
        return np.asarray(_error_factor(self.theta.size) * (sizes[pairs[:, 0]] + sizes[pairs[:, 1]]))

    def shift(self, x: Features, pair: Ints) -> Floats:
        """Σ_k (x_jk − x_ik)(θ̂_ik − θ̂_jk): what swapping the (2, g) `pair` adds to the predictor."""
        left, right = (columns_of(x, group).astype(np.float64) for group in pair)
        delta = np.zeros(len(left))
        for k, c in enumerate(self.coefficients(pair[None])[0]):
            delta += (right[:, k] - left[:, k]) * c
        return delta

    def key(self, f: Floats, y: Floats) -> Floats:
        """k = offset(y) + slope(y)·f of every row, or |k| where the score is `absolute`."""
        offset, slope = self.affine(y)
        key = offset + slope * f
        return np.abs(key) if self.absolute else key

    def rounding(self, x: Features, y: Floats) -> Floats:
        """A bound on the rounding error of each sample's key, before any swap: c·ε·(|offset| + |slope|·Σ|x_l||θ̂_l|).

        0 where the arithmetic is exact. A swap adds c·ε·|slope|·(|x_i| + |x_j|)(|θ̂_i| + |θ̂_j|); see `swap_rounding`.
        """
        if isinstance(x, PackedMasks) or is_exact(x):
            return np.zeros(len(y))
        offset, slope = self.affine(y)
        sums = np.abs(x.astype(np.float64)) @ np.abs(self.theta)
        return np.asarray(_error_factor(x.shape[1]) * (np.abs(offset) + np.abs(slope) * sums))

    def swap_rounding(self, x: Features, y: Floats, pair: Ints) -> Floats:
        """What swapping the (2, g) `pair` adds to `rounding`."""
        left, right = (np.abs(columns_of(x, group).astype(np.float64)) for group in pair)
        total = (left + right) @ (np.abs(self.theta[pair[0]]) + np.abs(self.theta[pair[1]]))
        return np.asarray(_error_factor(x.shape[1]) * np.abs(self.affine(y)[1]) * total)

    def __call__(self, x: NDArray[np.generic], y: Floats) -> Floats:
        x = np.asarray(x)
        score = self.prepared(x)
        return score.value(score.key(score.predictor(x), np.asarray(y, np.float64)))


def _error_factor(d: int) -> float:
    """c·ε: a sum of d products is off by at most about d·ε of the sum of their sizes."""
    return float(2 * (d + 4) * np.finfo(np.float64).eps)


class AbsoluteResidual(LinearScore):
    """T(x, y) = |y − b − xᵀθ̂|, the score of the paper's linear simulations.

    >>> AbsoluteResidual([2.0, 0.5], bias=0.5)(np.eye(2), np.ones(2))
    array([1.5, 0. ])
    """

    absolute = True

    def __init__(self, theta: ArrayLike, bias: float = 0.0) -> None:
        super().__init__(theta)
        self.bias = check_number("bias", bias)

    def affine(self, y: Floats) -> tuple[Floats, Floats]:
        """(y − b, −1): the key is y − b − f."""
        return y - self.bias, np.full_like(y, -1.0)


class SquaredResidual(AbsoluteResidual):
    """T(x, y) = (y − b − xᵀθ̂)², the score of datamodels.

    >>> SquaredResidual([2.0, 0.5], bias=0.5)(np.eye(2), np.ones(2))
    array([2.25, 0.  ])
    """

    def value(self, key: Floats) -> Floats:
        """k², increasing because the key is never negative."""
        return key * key


class SignedMargin(LinearScore):
    """T(x, y) = y·xᵀθ̂, the score of the paper's mixture of Gaussians (y is ±1).

    >>> SignedMargin([2.0, 0.5])(np.eye(2), np.array([1.0, -1.0]))
    array([ 2. , -0.5])
    """

    absolute = False

    def affine(self, y: Floats) -> tuple[Floats, Floats]:
        """(0, y): the key is y·f."""
        return np.zeros_like(y), y
