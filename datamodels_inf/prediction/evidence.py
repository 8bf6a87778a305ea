"""What the fit rows say about effects: a debiased datamodel on the rows that it was fitted on.

In-sample residuals e of a LASSO with ŝ nonzero weights on n rows are too small by the factor 1 − ŝ/n. With e/(1 − ŝ/n)
in their place, the estimate of `influence` is unbiased and its standard error right, whatever the ratio of n to the
number d of images (Bellec & Zhang 2022; Javanmard & Montanari 2014). Scores that were not made from these rows have
ŝ = 0. Measured on simulated masks: standardised errors have sd 0.99 to 1.02 from n = ¾d to n = 20d (docs/prior.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.atlas import AtlasTile
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.influence import MaskLaw
from datamodels_inf.internal.checks import Floats, Ints, check_integer, check_pairs

MOST_FREEDOM = 0.9
"""Of a fit that spends more than this share of its rows on weights, ŝ/n, nothing is known."""


@dataclass(frozen=True, eq=False)
class ImageEvidence:
    """On the n fit rows: Δ̂ of every image and target with its standard error, (targets, d), and θ̂ as it stands."""

    estimate: Floats
    standard_error: Floats
    theta: Floats
    n: int
    law: MaskLaw

    @classmethod
    def of(cls, tile: AtlasTile, datamodel: Datamodel, law: MaskLaw, *, fitted: bool) -> ImageEvidence:
        """From the atlas of the fit rows with the same datamodel. fitted: whether a LASSO made it from these rows."""
        theta = np.ascontiguousarray(datamodel.in_mask_coding().weight.T, np.float64)
        share = (datamodel.n_nonzero if fitted else np.zeros(len(theta))) / tile.n
        known = (share <= MOST_FREEDOM)[:, None]
        factor = 1.0 / np.where(known, 1.0 - share[:, None], 1.0)
        start = theta - (theta.sum(axis=1, keepdims=True) - theta) / (law.d - 1.0)
        error = np.where(known, factor * tile.standard_error, np.inf)
        return cls(start + factor * (tile.estimate - start), error, theta, tile.n, law)


@dataclass(frozen=True, eq=False)
class PairEvidence:
    """Of P pairs of groups of g images on one target, matched members i_k, j_k.

    difference: (P, g), Δ̂ of i_k instead of j_k. error: (P,), the standard error of one of them on the n_fit rows, a
    quadratic mean. theta: (P, g), θ̂_{i_k} − θ̂_{j_k}. q: share of the masks that hold just one of two images.
    q_all: share of those that hold all of I and none of J, or the reverse.
    """

    difference: Floats
    error: Floats
    theta: Floats
    q: float
    q_all: float
    n_fit: int
    n_test: int

    @classmethod
    def of(cls, images: ImageEvidence, target: int, pairs: Ints, n_test: int) -> PairEvidence:
        """Of (P, 2) or (P, 2, g) `pairs` on row `target` of the evidence, to be tested on n_test rows.

        Δ̂_i − Δ̂_j is d/(d − 1) times the effect of i instead of j, and (x_i − x_j)² has mean 2κ·d/(d − 1).
        """
        d = images.law.d
        checked = check_pairs(pairs, d)
        estimate, square, theta = (array[target] for array in (images.estimate, images.standard_error**2, images.theta))
        left, right = checked[:, 0], checked[:, 1]
        return cls(
            (estimate[left] - estimate[right]) * (d - 1.0) / d,
            np.sqrt((square[left] + square[right]).mean(axis=1) * (d - 1.0) / d),
            theta[left] - theta[right],
            informative_share(images.law, 1),
            informative_share(images.law, checked.shape[2]),
            images.n,
            check_integer("n_test", n_test, 1),
        )

    @property
    def test_error(self) -> Floats:
        """(P,): `error` on the tested rows. Errors of a fit are those of rows it has not seen, once e is as large."""
        return np.asarray(self.error * np.sqrt(self.n_fit / self.n_test))

    @property
    def noise(self) -> Floats:
        """(P,): sd of a residual on the tested rows, since error² = 4·noise²/(n·q)."""
        return np.asarray(self.error * np.sqrt(self.n_fit * self.q) / 2.0)


def informative_share(law: MaskLaw, g: int) -> float:
    """P(a mask holds all of g images and none of g others, or the reverse), the mean over the sizes of the masks."""
    inside = law.share * law.d
    chance = np.ones(len(inside))
    for k in range(g):
        held, left_out, others = inside - k, law.d - inside - k, law.d - 2.0 * k
        chance *= np.maximum(held, 0.0) * np.maximum(left_out, 0.0) / (others * (others - 1.0))
    return float(2.0 * chance.mean())
