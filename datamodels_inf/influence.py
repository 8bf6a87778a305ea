"""The influence of one training image on one target, with an error bar: a debiased datamodel.

A mask x of size S holds some of d images. Whatever predictor θ̂, b was made from other rows, with e = y − b − xᵀθ̂,
centred over the n tested rows, and κ = mean of S(d − S)/d²,

    Δ̂_i = θ̂_i − mean_{j≠i} θ̂_j + (1/n)·Σ_m g_mi / κ,    g_mi = (x_mi − S_m/d)·e_m,    SE_i = sd(g_i)/(√n·κ)

estimates Δ_i = mean_{j≠i} Δ_ij, Δ_ij = E[y | i in, j out] − E[y | i out, j in]: training on image i *instead of an
average other image*. This holds for masks of a fixed size, where it is E[y | i in] − E[y | i out], as for independent
coins, and for any law that treats all images alike. θ̂ only takes noise out: with a good one SE is smaller, with a bad
one the interval is as honest. It must not have seen the tested rows.

`atlas.py` has the same for many targets. Sums over masks are of whole numbers (`internal/whole_sums`), so that any
tiling and any number of threads give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from datamodels_inf.contrast import effect_interval
from datamodels_inf.datamodel import Masks
from datamodels_inf.influence_tail import Tail
from datamodels_inf.internal.checks import Floats, Ints, check_fraction, check_integer, check_number, check_vector
from datamodels_inf.internal.whole_sums import column_sums, row_sums
from datamodels_inf.masks import PackedMasks, check_indices

FEWEST_MODELS = 3


@dataclass(frozen=True, eq=False)
class Influence:
    """The influence of `images` on one target, one entry each.

    estimate: Δ̂ = θ̂_i − mean_{j≠i} θ̂_j + (1/n)·Σ_m (x_mi − S_m/d)·e_m / κ, in units of the margin (see `influence`).
    standard_error: infinite for an image that all tested models saw, or none.
    n: tested models. confidence: of `interval`. tail: of the law of Δ̂ without influence; None where masks hold half of
    the images, and Student's law is heavy enough.
    """

    images: Ints
    estimate: Floats
    standard_error: Floats
    n: int
    confidence: float
    tail: Tail | None = None

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """(low, high): Δ̂ ∓ t·SE, t a quantile of Student's law with n − 1 degrees of freedom."""
        return effect_interval(self.estimate, self.standard_error, np.full(1, self.n - 1.0), self.confidence)

    @cached_property
    def pvalue(self) -> Floats:
        """Of Δ_i = 0, two-sided: asymptotic, see `influence`."""
        return influence_pvalue(self.estimate, self.standard_error, self.n, self.tail)


def influence_pvalue(estimate: NDArray[Any], standard_error: NDArray[Any], n: int, tail: Tail | None = None) -> Floats:
    """2·P(T ≥ |estimate/standard_error|), T of Student's law with n − 1 degrees of freedom; 1 where nothing is known.

    Where a `tail` is given, the p-value is not below that of the target's own law.

    >>> influence_pvalue(np.array([0.0, 1.96, 3.0]), np.array([0.0, 1.0, np.inf]), 10**6).round(3)
    array([1.  , 0.05, 1.  ])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(estimate.astype(np.float64)) / standard_error
    p = np.where(np.isnan(z), 1.0, 2.0 * stdtr(n - 1.0, -z))
    return p if tail is None else np.maximum(p, tail.pvalue(estimate))


def influence_quantile(pvalue: float, n: int) -> float:
    """The |estimate/standard_error| that has this p-value.

    >>> round(influence_quantile(0.05, 10**6), 2)
    1.96
    """
    return -float(stdtrit(n - 1.0, pvalue / 2.0))


def influence(
    masks: Masks,
    margins: ArrayLike,
    *,
    theta: ArrayLike,
    bias: float = 0.0,
    images: ArrayLike | None = None,
    confidence: float = 0.95,
    threads: int = 1,
) -> Influence:
    """How much training on each image, instead of an average other one, changes the margin on a target.

    Δ̂_i = θ̂_i − mean_{j≠i} θ̂_j + (1/n)·Σ_m (x_mi − S_m/d)·e_m / κ, SE_i = sd((x_i − S/d)·e)/(√n·κ), with the sizes S
    of the masks, d images, κ the mean of S(d − S)/d², and e = y − b − xᵀθ̂, centred. It estimates the mean over j of
    E[y | i in, j out] − E[y | i out, j in]; for masks of one size that is E[y | i in] − E[y | i out]. Centring takes
    1/n off the last term, so small against SE that it stays.

    Parameters
    ----------
    masks : (n, d) masks of the tested models, bit-packed or bool; 1 where a model was trained on an image.
    margins : (n,) the target's margin of each of these models.
    theta, bias : predictions are bias + maskᵀtheta. LASSO weights, or anybody's scores on the scale of the margins;
        zeros are allowed. Made without the tested rows.
    images : which images to answer for; all if None.
    confidence : of the intervals, for an image named in advance.
    threads : change nothing but the time.

    Returns
    -------
    Influence with `estimate`, `standard_error`, `interval` and `pvalue`, one entry per image.

    The p-value is asymptotic in n: the larger of Student's and, for masks that do not hold half of the images, that of
    the saddlepoint tail of the target's own residuals (`influence_tail`). Measured under the null
    (tests/validity/test_influence.py) from n = 300 on, shares from 0.02 to 0.75 and residuals that are normal, skewed,
    clipped or heavy-tailed: true to its level or too large, down to 1e-6. Intervals are Student's alone: with a small
    share and skewed residuals, or few models that saw an image or did not (below about 30), they cover less often.

    >>> rng = np.random.default_rng(0)
    >>> masks = rng.permuted(np.tile(np.arange(20) < 10, (500, 1)), axis=1)
    >>> margins = masks[:, 3] - 0.5 * masks[:, 7] + 0.3 * rng.standard_normal(500)
    >>> found = influence(masks, margins, theta=np.zeros(20))
    >>> np.flatnonzero(found.pvalue < 1e-4), found.estimate[[3, 7]].round(1)
    (array([3, 7]), array([ 1. , -0.6]))
    """
    packed = PackedMasks.of(masks)
    law = MaskLaw.of(packed)
    check_fraction("confidence", confidence)
    check_integer("threads", threads, 1)
    weight = check_vector("theta", theta, packed.n_train)
    e = residuals(packed, margins, weight, bias, threads)[None]
    everything = np.arange(packed.n_train)
    chosen = everything if images is None else check_indices("images", np.asarray(images), packed.n_train)
    if not chosen.size:
        raise ValueError("`images` must name at least one image.")
    some, place = _only(packed, chosen)
    scaled, unit = in_units(e)
    sums = [column_sums(some, values[0], threads)[place, None] for values in (scaled, *law.squares(scaled))]
    known = ~some.constant_columns()[place]
    estimate, error = law.estimates(scaled, unit, known, sums, weight[None, chosen], weight.sum(keepdims=True))
    return Influence(chosen, estimate[0], error[0], packed.n_models, confidence, law.tail(e[0]))


def residuals(masks: PackedMasks, margins: ArrayLike, theta: ArrayLike, bias: float, threads: int) -> Floats:
    """e = y − b − xᵀθ̂ of each row, centred."""
    y = check_vector("margins", margins, masks.n_models)
    weight = check_vector("theta", theta, masks.n_train)
    return np.asarray(centred((y - check_number("bias", bias) - row_sums(masks, weight, threads))[None])[0])


@dataclass(frozen=True, eq=False)
class MaskLaw:
    """What the estimate needs of the sizes of masks. share: S/d of each row. kappa: mean of S(d − S)/d²."""

    share: Floats
    kappa: float
    d: int

    @classmethod
    def of(cls, masks: PackedMasks) -> MaskLaw:
        """Refuses masks that tell nothing."""
        n, d = masks.shape
        if n < FEWEST_MODELS or d < 2:
            raise ValueError(f"`masks` must have at least {FEWEST_MODELS} rows and 2 columns, got {n} and {d}.")
        share = masks.row_sums() / d
        kappa = float(np.mean(share * (1.0 - share)))
        if kappa == 0.0:
            raise ValueError("`masks` must not all be empty or full: no image is ever in one and out of another.")
        return cls(share, kappa, d)

    def squares(self, e: Floats) -> list[Floats]:
        """(1 − 2S/d)·e², whose column sums SE needs; nothing where S = d/2, and (x − ½)² is ¼ for either x."""
        lean = 1.0 - 2.0 * self.share
        return [lean * e**2] if lean.any() else []

    def tail(self, e: Floats) -> Tail | None:
        """That of a target with residuals e; None where S = d/2, and the law is symmetric."""
        return Tail.of(e, self.share, self.kappa) if self.leans else None

    @property
    def leans(self) -> bool:
        """Whether some masks hold more images than they leave out, or fewer."""
        return bool((self.share != 0.5).any())

    def estimates(
        self, e: Floats, unit: Floats, known: NDArray[np.bool_], sums: list[Floats], theta: Floats, total: Floats
    ) -> tuple[Floats, Floats]:
        """(Δ̂, SE), each (T, images), from column sums of e and of `squares`, each (images, T).

        e, unit: (T, n), centred and `in_units`, and (T, 1). known: whether some models saw an image and some did not.
        theta: (T, images). total: (T,), Σ_j θ̂_j of all images.
        """
        n = len(self.share)
        g = sums[0].T - (self.share * e).sum(axis=1)[:, None]
        g2 = (self.share * e**2 * self.share).sum(axis=1)[:, None]
        if len(sums) > 1:
            g2 = g2 + sums[1].T
        estimate = theta - (total[:, None] - theta) / (self.d - 1.0) + unit * (g / (n * self.kappa))
        variance = np.maximum(g2 - g**2 / n, 0.0) / (n - 1.0)
        error = unit * (np.sqrt(variance / n) / self.kappa)
        error[:, ~known] = np.inf
        return estimate, error


def centred(e: Floats) -> Floats:
    """Minus the mean of each row; rows lie in one piece, so that each is summed the same way whatever is beside it."""
    with np.errstate(over="ignore", invalid="ignore"):  # `in_units` refuses what overflows.
        return np.asarray(np.ascontiguousarray(e) - np.ascontiguousarray(e).mean(axis=1, keepdims=True))


def in_units(e: Floats) -> tuple[Floats, Floats]:
    """(e/u, u), (T, n) and (T, 1), u the largest power of two up to max |e| of a target: no square under- or overflows.

    To divide by u is exact, so that SE and p-value do not depend on the unit of the margins.
    """
    largest = np.abs(e).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise ValueError("`margins` must be smaller: the residuals overflow.")
    unit = np.where(largest > 0.0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)
    return e / unit, unit


def _only(masks: PackedMasks, images: Ints | NDArray[np.intp]) -> tuple[PackedMasks, NDArray[np.intp]]:
    """The bytes that hold `images`, and where these are then."""
    if 8 * len(images) >= masks.n_train:
        return masks, images
    used, position = np.unique(images >> 3, return_inverse=True)
    return PackedMasks(masks.bits[:, used], 8 * len(used)), 8 * position + (images & 7)
