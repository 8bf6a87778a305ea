"""Datamodels: linear predictions of margins from masks, and how good they are on held-out masks.

One column of `weight` and one entry of `bias` predict the margin on one target (Ilyas et al., 2022),

    "mask":    ŷ = maskᵀ w + b
    "signed":  ŷ = (2·mask − 1)ᵀ w + b = maskᵀ (2w) + (b − Σ w).

A released file does not say which coding it is in; `detect_coding` asks held-out margins. A wrong answer would
halve every effect silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, check_choice
from datamodels_inf.internal.ranks import average_ranks
from datamodels_inf.internal.threads import even_slices, in_threads
from datamodels_inf.masks import PackedMasks, check_indices

Coding: TypeAlias = Literal["mask", "signed"]
Masks: TypeAlias = PackedMasks | NDArray[np.bool_]

COLUMNS_AT_ONCE = 16
"""Whose margins and predictions a thread ranks."""
BLOCK_BYTES = 128 * 2**20
"""Targets are taken in blocks whose float64 weights, predictions and ranks need about this much memory."""


@dataclass(frozen=True, eq=False)
class Quality:
    """How well a datamodel predicts held-out margins; every field has one entry a target.

    mse = mean (y − ŷ)² and constant_mse = mean (y − ȳ)², ȳ the mean of these margins; r2 = 1 − mse / constant_mse;
    spearman is the rank correlation of y and ŷ (average ranks for ties): the linear datamodeling score. r2 is NaN
    where the margins are constant, spearman also where the predictions are.
    """

    r2: Floats
    spearman: Floats
    mse: Floats
    constant_mse: Floats


@dataclass(frozen=True)
class CodingReport:
    """The coding that predicts better, and the mean MSE over the targets of both and of the best constant."""

    coding: Coding
    mse_mask: float
    mse_signed: float
    constant_mse: float


@dataclass(frozen=True, eq=False)
class Datamodel:
    """Linear datamodels of many targets: ŷ = maskᵀw + b, or ŷ = (2·mask − 1)ᵀw + b if the coding is "signed".

    Parameters
    ----------
    weight : (n_train, n_targets) floats, finite; column t belongs to target t.
    bias : (n_targets,) floats, finite.
    lam : (n_targets,) floats, the LASSO penalty each target was fitted with, NaN where unknown.
    coding : what the weights multiply, see above.
    """

    weight: NDArray[np.floating[Any]]
    bias: NDArray[np.floating[Any]]
    lam: NDArray[np.floating[Any]]
    coding: Coding = "mask"

    def __post_init__(self) -> None:
        check_choice("coding", self.coding, ("mask", "signed"))
        if self.weight.ndim != 2 or 0 in self.weight.shape:
            raise ValueError(f"`weight` must have shape (n_train, n_targets), got {self.weight.shape}.")
        for name, vector in (("bias", self.bias), ("lam", self.lam)):
            if vector.shape != (self.n_targets,):
                raise ValueError(f"`{name}` must have shape ({self.n_targets},), got {vector.shape}.")
        for name, array in (("weight", self.weight), ("bias", self.bias), ("lam", self.lam)):
            if not np.issubdtype(array.dtype, np.floating):
                raise ValueError(f"`{name}` must be an array of floats, got {array.dtype}.")
        for name, array in (("weight", self.weight), ("bias", self.bias)):
            _check_finite(name, array)
        if np.any(self.lam < 0) or np.any(np.isinf(self.lam)):
            raise ValueError("`lam` must be finite and at least 0, or NaN where it is unknown.")

    @property
    def n_train(self) -> int:
        """The number of training images, which are the rows of `weight`."""
        return int(self.weight.shape[0])

    @property
    def n_targets(self) -> int:
        """The number of targets, which are the columns of `weight`."""
        return int(self.weight.shape[1])

    @cached_property
    def n_nonzero(self) -> NDArray[np.int64]:
        """(n_targets,): the number of training images with a weight other than 0."""
        return np.asarray(np.count_nonzero(self.weight, axis=0), dtype=np.int64)

    def subset(self, targets: NDArray[np.integer[Any]] | Iterable[int]) -> Datamodel:
        """The datamodels of `targets` alone, in that order."""
        index = check_indices("targets", targets, self.n_targets)
        return Datamodel(self.weight[:, index], self.bias[index], self.lam[index], self.coding)

    def in_mask_coding(self) -> Datamodel:
        """The same predictions as maskᵀw + b: w → 2w, b → b − Σw when the coding is "signed"."""
        if self.coding == "mask":
            return self
        bias = self.bias - self.weight.sum(axis=0, dtype=np.float64)
        return Datamodel(2 * self.weight, bias, self.lam, "mask")

    def predict(self, masks: Masks, *, threads: int = 1) -> Floats:
        """The full (n_models, n_targets) matrix of predictions, in float64: 0.8 GB for 10,000 × 10,000.

        Sums are of whole numbers (`internal.whole_sums.products`): exact where the weights are on a dyadic grid, and
        the same bits for any number of threads.
        """
        packed = self._packed(masks)
        out = np.empty((packed.n_models, self.n_targets))
        for targets in self._blocks(packed.n_models):
            out[:, targets] = self._predict(packed, targets, threads)
        return out

    def quality(
        self,
        masks: Masks,
        margins: NDArray[np.floating[Any]],
        *,
        threads: int = 1,
        progress: Callable[[float], object] | None = None,
    ) -> Quality:
        """Compare with `margins` (n_models, n_targets) of models that the fit has not seen, block by block.

        `progress` is called with steps that add up to the number of targets.
        """
        packed = self._packed(masks)
        _check_margins(margins, packed.n_models, self.n_targets)
        quality = Quality(*np.empty((4, self.n_targets)))
        for targets in self._blocks(packed.n_models):
            count = targets.stop - targets.start
            tell = None if progress is None else partial(_tell, progress, 0.5 * count / packed.n_models)
            y, predicted = _float64("margins", margins[:, targets]), self._predict(packed, targets, threads, tell)
            quality.mse[targets] = np.mean((y - predicted) ** 2, axis=0)
            quality.constant_mse[targets] = _variance(y)
            quality.spearman[targets] = _spearman_in_threads(y, predicted, threads)
            if progress is not None:
                progress(0.5 * count)
        quality.r2[:] = 1 - _ratio(quality.mse, quality.constant_mse)
        return quality

    def _packed(self, masks: Masks) -> PackedMasks:
        packed = PackedMasks.of(masks)
        if packed.n_train != self.n_train:
            raise ValueError(f"`masks` must have {self.n_train} columns as `weight` has rows, got {packed.n_train}.")
        return packed

    def _blocks(self, n_models: int) -> Iterator[slice]:
        # Of each target: its weights, and at most eight columns as long as its margins while these are ranked.
        step = max(1, BLOCK_BYTES // (8 * (self.n_train + 8 * n_models)))
        for start in range(0, self.n_targets, step):
            yield slice(start, min(start + step, self.n_targets))

    def _predict(
        self,
        masks: PackedMasks,
        targets: slice,
        threads: int,
        progress: Callable[[float], object] | None = None,
    ) -> Floats:
        from datamodels_inf.internal.whole_sums import products

        weight = np.ascontiguousarray(self.weight[:, targets], dtype=np.float64)
        bias = self.bias[targets].astype(np.float64)
        product = products(masks, weight, threads, progress)
        if self.coding == "signed":
            product *= 2
            bias -= weight.sum(axis=0)
        product += bias
        return product


def _tell(progress: Callable[[float], object], share: float, rows: float) -> None:
    progress(share * rows)


def detect_coding(
    weight: NDArray[np.floating[Any]],
    bias: NDArray[np.floating[Any]],
    masks: Masks,
    margins: NDArray[np.floating[Any]],
) -> CodingReport:
    """The coding whose predictions have the smaller mean MSE on held-out `masks` and `margins`.

    A few hundred targets are enough. Stops when neither coding beats the constant predictor, the mean margin of
    each target: then the weights belong to other data, or rows or columns are in another order.

    >>> rng = np.random.default_rng(0)
    >>> masks, weight = rng.random((300, 8)) < 0.5, rng.standard_normal((8, 1))
    >>> margins = masks @ (2 * weight) - weight.sum() + 0.1 * rng.standard_normal((300, 1))  # (2·mask − 1)ᵀw
    >>> detect_coding(weight, np.zeros(1), masks, margins).coding
    'signed'
    """
    unknown = np.full(np.shape(bias), np.nan)
    qualities = {
        "mask": Datamodel(weight, bias, unknown, "mask").quality(masks, margins),
        "signed": Datamodel(weight, bias, unknown, "signed").quality(masks, margins),
    }
    mask, signed = (float(quality.mse.mean()) for quality in qualities.values())
    constant = float(qualities["mask"].constant_mse.mean())
    if min(mask, signed) >= constant:
        raise ValueError(
            f"`weight` and `bias` must predict `margins` better than a constant in one of the codings, "
            f"got a mean MSE of {mask:.6g} (mask) and {signed:.6g} (signed) against {constant:.6g} (constant)."
        )
    return CodingReport("mask" if mask <= signed else "signed", mask, signed, constant)


def spearman(y: Floats, predicted: Floats) -> Floats:
    """Pearson's correlation of the average ranks, column by column; NaN where either is constant."""
    # Ranks are multiples of ½ and so is their mean: a constant column has a sum of squares of exactly 0.
    a, b = (average_ranks(column) - (len(column) + 1) / 2 for column in (y, predicted))
    return _ratio((a * b).sum(axis=0), np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0)))


def _spearman_in_threads(y: Floats, predicted: Floats, threads: int) -> Floats:
    """Of many columns: to rank them takes as long as to predict them."""
    found = np.empty(y.shape[1])

    def rank(some: slice) -> None:
        found[some] = spearman(y[:, some], predicted[:, some])

    in_threads(rank, even_slices(y.shape[1], COLUMNS_AT_ONCE, threads), threads)
    return found


def _variance(y: Floats) -> Floats:
    """The mean squared distance to the mean; exactly 0 for a constant column, whose mean may be rounded."""
    return np.where(np.ptp(y, axis=0) == 0, 0.0, np.var(y, axis=0))


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator != 0)


def _check_margins(margins: NDArray[Any], n_models: int, n_targets: int) -> None:
    if margins.shape != (n_models, n_targets):
        raise ValueError(f"`margins` must have shape ({n_models}, {n_targets}), got {margins.shape}.")
    if n_models < 2:
        raise ValueError(f"`margins` must have at least 2 rows, got {n_models}.")


def _float64(name: str, array: NDArray[Any]) -> Floats:
    _check_finite(name, array)
    return array.astype(np.float64)


def _check_finite(name: str, array: NDArray[Any]) -> None:
    # NaN and ±∞ survive into the extremes, which need no array of flags as large as the weights.
    if not (np.isfinite(array.min()) and np.isfinite(array.max())):
        raise ValueError(f"`{name}` must be finite, but it holds NaN or infinity.")
