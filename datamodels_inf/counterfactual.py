"""The counterfactual itself: couples of fresh models, one trained with i and without j, the other the reverse.

    Δ = E[y | I in, J out] − E[y | I out, J in],   y = m(x, ω)

x is the mask, ω all other chance of a training (initial weights, order of minibatches), which is independent of x. Let
R be the mask on the images outside I and J. Exchanging I and J leaves the law of x as it is, so that
P(R = r, I in, J out) = P(R = r, I out, J in) for every r: given either event, R has the same law ρ. Therefore

    Δ = Σ_r ρ(r)·E_ω[m(r + I, ω) − m(r + J, ω)] = E[d],   d = m(r + I, ω) − m(r + J, ω),  r ~ ρ.

A couple draws r and ω once and trains both models with them; the mean of d over couples is unbiased for Δ, whatever the
network does with a mask: no datamodel, no fit, no held-out rows. Sharing r and ω is not needed for that; it takes what
both models have in common out of the noise. ρ, for d images of which masks hold k, and groups of g:

    "fixed-size"   uniform over the subsets of k − g of the other d − 2g images
    "bernoulli"    each of the other images independently with the probability that it always has
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from datamodels_inf.contrast import effect_interval
from datamodels_inf.internal.checks import check_choice, check_fraction, check_integer

LAWS = ("fixed-size", "bernoulli")
Verdict: TypeAlias = Literal["confirmed", "reversed", "open"]


@dataclass(frozen=True)
class Swapped:
    """Two disjoint groups of as many images, `left` and `right`, in masks of `n_train` images.

    proportion, law: as the masks of the set were drawn; a mask of "fixed-size" holds round(proportion·n_train) images.
    """

    n_train: int
    left: Sequence[int]
    right: Sequence[int]
    proportion: float = 0.5
    law: str = "fixed-size"

    def __post_init__(self) -> None:
        check_choice("law", self.law, LAWS)
        check_fraction("proportion", self.proportion)
        both = [*self.left, *self.right]
        if not self.left or len(self.left) != len(self.right) or len(set(both)) < len(both):
            raise ValueError("`left` and `right` must be disjoint groups of as many different images.")
        if not all(0 <= image < self.n_train for image in both):
            raise ValueError(f"`left` and `right` must be images from 0 to {self.n_train - 1}.")
        if self.law == "fixed-size" and not 0 <= self.n_rest <= self.n_train - len(both):
            raise ValueError(
                f"`left` and `right` must be smaller groups: no mask of {self.n_rest + len(self.left)} of "
                f"{self.n_train} images holds {len(self.left)} and leaves {len(self.right)} others out."
            )

    @property
    def n_rest(self) -> int:
        """k − g, the images beside the group that a mask of fixed size holds."""
        return round(self.proportion * self.n_train) - len(self.left)

    def couples(self, first: int, last: int, *, seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of couples first..last−1, with `left` and with `right`: rows that agree on all other images.

        A row depends only on `seed` and the couple's number.

        >>> with_left, with_right = Swapped(6, [0], [5]).couples(0, 2, seed=0)
        >>> with_left.astype(int).tolist(), with_right.astype(int).tolist()
        ([[1, 0, 0, 1, 1, 0], [1, 0, 1, 0, 1, 0]], [[0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1]])
        """
        check_integer("first", first, 0)
        check_integer("last", last, first)
        others = np.setdiff1d(np.arange(self.n_train), [*self.left, *self.right])
        with_left = np.zeros((last - first, self.n_train), np.bool_)
        for row, couple in zip(with_left, range(first, last), strict=True):
            rng = np.random.default_rng([seed, couple])
            if self.law == "fixed-size":
                row[rng.choice(others, self.n_rest, replace=False, shuffle=False)] = True
            else:
                row[others] = rng.random(len(others)) < self.proportion
        with_right = with_left.copy()
        with_left[:, self.left] = True
        with_right[:, self.right] = True
        return with_left, with_right


@dataclass(frozen=True)
class Retrained:
    """Δ from couples of fresh models: the mean of d, its standard error, and Student's interval with n − 1 degrees.

    The interval is the whole line, and the standard error infinite, where the couples do not vary.
    """

    effect: float
    standard_error: float
    low: float
    high: float
    n_couples: int
    confidence: float

    @classmethod
    def of(cls, with_left: ArrayLike, with_right: ArrayLike, *, confidence: float = 0.95) -> Retrained:
        """From the margins of the two models of each couple.

        >>> found = Retrained.of([1.0, 3.0, 2.0], [0.0, 1.0, 2.0])
        >>> found.effect, round(found.low, 2), found.n_couples
        (1.0, -1.48, 3)
        """
        check_fraction("confidence", confidence)
        differences = np.asarray(with_left, np.float64) - np.asarray(with_right, np.float64)
        n = len(differences)
        if differences.ndim != 1 or n < 2:
            raise ValueError("`with_left` and `with_right` must be margins of at least two couples.")
        spread = differences.std(ddof=1)
        varies = spread > 1e-12 * np.abs(differences).max()  # Equal differences have a spread of their rounding.
        error = np.array(spread / np.sqrt(n) if varies else np.inf)
        low, high = effect_interval(differences.mean(), error, np.array(n - 1.0), confidence)
        return cls(float(differences.mean()), float(error), float(low), float(high), n, confidence)

    @property
    def direction(self) -> int:
        """The sign of Δ where the interval excludes 0, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def verdict(self, effect: float) -> Verdict:
        """What these couples say of an estimate `effect` of other models.

        "open": the interval holds 0. Else "reversed" if the estimate has the opposite sign, and "confirmed" if it has
        the same; so also if it has none (0, or NaN: not estimated), since then only a difference is claimed.
        """
        if not self.direction:
            return "open"
        return "reversed" if effect * self.direction < 0 else "confirmed"

    def distance(self, effect: float, standard_error: float) -> float:
        """z = (effect − Δ) / √(SE² + SE_fresh²), of an estimate from other models; NaN where one of them is not known.

        Standard normal where the estimate was not selected; a finding was, which pulls z towards the estimate's sign.
        """
        error = np.hypot(standard_error, self.standard_error)
        return float((effect - self.effect) / error) if np.isfinite(error) and error > 0 else float("nan")

    def compatible(self, effect: float, standard_error: float) -> bool:
        """|effect − Δ| ≤ √((q·SE)² + (t·SE_fresh)²): the two may be estimates of one Δ.

        q and t are the quantiles of `confidence`, normal and Student's with n − 1 degrees of freedom.
        """
        level = 0.5 + self.confidence / 2.0
        q, t = ndtri(level), stdtrit(self.n_couples - 1, level)
        return bool(abs(effect - self.effect) <= np.hypot(q * standard_error, t * self.standard_error) < np.inf)
