"""The contrast score (METHOD 8): power even where θ̂_i = θ̂_j, and an effect with a unit.

r = y − b − Σ_{l≠i,j} x_l θ̂_l is free of i and j, and T_c = r·(x_i − x_j), so D = 2·T_c. θ̂ only removes noise; the
signal comes from the data. Of groups I and J (METHOD 9), only masks with all of I in and all of J out count, or the
reverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from datamodels_inf.checks import Floats, Index, Ints, check_fraction, check_pair, check_pairs
from datamodels_inf.comparison import Sample
from datamodels_inf.masks import PackedMasks
from datamodels_inf.scores import AbsoluteResidual, columns_of
from datamodels_inf.signed_rank import signed_rank_pvalue


@dataclass(frozen=True)
class Contrast:
    """The effect Δ = E[y | i in, j out] − E[y | i out, j in] of training on i instead of j.

    estimate: the difference of the two means of r, in the unit of y. NaN if one of the two sides has no mask.
    interval: Welch's interval for Δ; the whole line if one side has fewer than two masks, or neither varies.
    pvalue: Wilcoxon's signed-rank test of D = 2r·(x_i − x_j), valid for H0 with τ = τ_X = 0.
    n_informative: masks that hold exactly one of the two.
    statistic: the share of them with D > 0, ties counted half; ½ if there are none.
    """

    estimate: float
    interval: tuple[float, float]
    pvalue: float
    n_informative: int
    statistic: float
    confidence: float

    def in_words(self, i: str = "i", j: str = "j", unit: str = "the margin on this target") -> str:
        """One sentence, such as "training on i instead of j raises the margin on this target by 0.31, …"."""
        if np.isnan(self.estimate):
            return f"no mask holds {i} without {j}, or none holds {j} without {i}: the effect cannot be estimated"
        verb = "raises" if self.estimate >= 0 else "lowers"
        low, high = self.interval if self.estimate >= 0 else (-self.interval[1], -self.interval[0])
        return (
            f"training on {i} instead of {j} {verb} {unit} by {abs(self.estimate):.3g}, "
            f"{self.confidence:.0%} interval {low:.3g} to {high:.3g}"
        )


def contrast(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    i: Index,
    j: Index,
    *,
    theta: ArrayLike,
    bias: float = 0.0,
    confidence: float = 0.95,
) -> Contrast:
    """Estimate and test how much the response changes when `i` is in and `j` is out, against the reverse.

    `x` holds 0/1 masks; `theta` and `bias` come from other rows. Swapping `i` and `j` negates the effect.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((4000, 20)) < 0.5
    >>> y = 0.5 * x[:, 3] + rng.standard_normal(4000)
    >>> effect = contrast(x, y, 3, 7, theta=np.zeros(20))
    >>> effect.interval[0] < 0.5 < effect.interval[1]
    True
    """
    sample = _masks(x, y)
    return _contrasts(sample, check_pair(i, j, sample.d), theta, bias, confidence)[0]


def contrast_many(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    pairs: ArrayLike,
    *,
    theta: ArrayLike,
    bias: float = 0.0,
    confidence: float = 0.95,
) -> list[Contrast]:
    """`contrast` for every row of `pairs`, (P, 2) or (P, 2, g); the predictions are made once for all."""
    sample = _masks(x, y)
    return _contrasts(sample, check_pairs(pairs, sample.d), theta, bias, confidence)


def _masks(x: ArrayLike | PackedMasks, y: ArrayLike) -> Sample:
    sample = Sample.of(x, y)
    if not isinstance(sample.x, PackedMasks) and sample.x.dtype != np.bool_ and not np.isin(sample.x, (0, 1)).all():
        raise ValueError("`x` must hold 0/1 masks for a contrast, but it has other values.")
    return sample


def _contrasts(sample: Sample, pairs: Ints, theta: ArrayLike, bias: float, confidence: float) -> list[Contrast]:
    check_fraction("confidence", confidence)
    score = AbsoluteResidual(theta, bias).prepared(sample.x)
    f = score.predictor(sample.x)
    results = []
    for pair in pairs:
        r, sign = _residuals(sample, pair, score, f)
        if not np.isfinite(r).all():
            raise ValueError("`y` and `theta` must be smaller: the residuals overflow.")
        d = 2.0 * r * sign
        share = float(np.mean((np.sign(d) + 1.0) / 2.0)) if d.size else 0.5
        estimate, interval = _welch(r[sign > 0], r[sign < 0], confidence)
        results.append(Contrast(estimate, interval, signed_rank_pvalue(d)[0], d.size, share, confidence))
    return results


def _residuals(sample: Sample, pair: Ints, score: AbsoluteResidual, f: Floats) -> tuple[Floats, Floats]:
    """(r, ±1) of the informative masks: +1 where all of I is in and all of J out, −1 where it is the reverse."""
    left, right = (columns_of(sample.x, group).astype(np.bool_) for group in pair)
    with_i = np.asarray(left.all(axis=1) & ~right.any(axis=1))
    informative = np.asarray(with_i | (right.all(axis=1) & ~left.any(axis=1)))
    sign = np.where(with_i[informative], 1.0, -1.0)
    own = np.where(sign > 0, score.theta[pair[0]].sum(), score.theta[pair[1]].sum())  # What I, or J, adds to f.
    return sample.y[informative] - score.bias - (f[informative] - own), sign


def _welch(a: Floats, b: Floats, confidence: float) -> tuple[float, tuple[float, float]]:
    """Difference of the means and Welch's interval for it; the whole line if nothing tells how much the sides vary."""
    if a.size == 0 or b.size == 0:
        return float("nan"), (-np.inf, np.inf)
    # In units of the largest residual, so that no square under- or overflows.
    unit = float(max(np.abs(a).max(), np.abs(b).max())) or 1.0
    a, b = a / unit, b / unit
    estimate = float(a.mean() - b.mean())
    parts = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size]) if min(a.size, b.size) > 1 else np.zeros(2)
    variance = float(parts.sum())
    if variance == 0.0:
        return estimate * unit, (-np.inf, np.inf)
    freedom = variance**2 / float((parts**2 / (np.array([a.size, b.size]) - 1)).sum())
    half = float(stdtrit(freedom, 0.5 + confidence / 2.0)) * variance**0.5
    return estimate * unit, ((estimate - half) * unit, (estimate + half) * unit)
