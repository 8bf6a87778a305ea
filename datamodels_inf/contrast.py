"""The contrast score: power even where θ̂_i = θ̂_j, and an effect with a unit.

r = y − b − Σ_{l≠i,j} x_l θ̂_l is free of i and j, and T_c = r·(x_i − x_j), so D = 2·T_c. θ̂ only removes noise; the
signal comes from the data. Of groups I and J, only masks with all of I in and all of J out count, or the
reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from datamodels_inf.internal.checks import Floats, Ints, check_fraction, check_integer, check_pair, check_pairs
from datamodels_inf.internal.column_names import NamedIndex, Names, as_index, as_pairs, names_of
from datamodels_inf.internal.column_words import Words, column_words, in_chunks, is_masks, used_columns
from datamodels_inf.internal.comparison import Sample
from datamodels_inf.masks import PackedMasks
from datamodels_inf.scores import AbsoluteResidual, columns_of
from datamodels_inf.signed_rank import EXACT_UP_TO, exact_tail, large_sample_tail

PAIRS_AT_ONCE = 512
"""What a thread takes at a time; changes no result."""
FEW_INFORMATIVE = 30
"""With fewer informative masks than this, the interval is only rough.

Measured from 2 masks against 10 to 50 against 50. Noise of one law on both sides (normal, t₂, t₃, exponential, clipped,
on a grid, mostly zero): the 95 % interval covers Δ in at least 0.95 of all cases, the 99 % one in 0.99. Three times as
wide on one side: 0.95 and 0.99 still if it is normal, 0.93 and 0.98 if it is clipped at ± one standard deviation. If it
is skewed as well, no interval of this form will do: exponential noise has 0.91 to 0.93 up to 30 masks and 0.94 at 100,
normal noise cut off below its mean 0.90 to 0.93 and 0.94, and 0.82 for 3 masks against 9.
"""


@dataclass(frozen=True)
class Contrast:
    """The effect Δ = E[y | i in, j out] − E[y | i out, j in] of training on i instead of j.

    estimate: the difference of the two means of r, in the unit of y. NaN if one of the two sides has no mask.
    interval: estimate ∓ t·(Welch's standard error), t Student's quantile with one degree of freedom less than the
        smaller side has masks; rough below `FEW_INFORMATIVE`. The whole line if one side has fewer than two masks, or
        neither varies.
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
            f"{100.0 * self.confidence:.4g} % interval {low:.3g} to {high:.3g}"
        )


@dataclass(frozen=True, eq=False)
class ContrastResults:
    """Many contrasts: the fields of `Contrast` as arrays, one entry per pair; [k] and iteration give a `Contrast`.

    low, high = estimate ∓ t·standard_error, t the quantile of Student's law with `freedom` degrees. Where no interval
    is known (see `Contrast`), standard_error is infinite. smaller: masks of the side that has fewer. rank_sum:
    V = Σ sign(D)·rank(|D|) over D ≠ 0.
    """

    estimate: Floats
    standard_error: Floats
    freedom: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    statistic: Floats
    n_informative: Ints
    smaller: Ints
    rank_sum: Floats
    confidence: float

    def __len__(self) -> int:
        return len(self.pvalue)

    def __getitem__(self, index: int) -> Contrast:
        return Contrast(
            float(self.estimate[index]),
            (float(self.low[index]), float(self.high[index])),
            float(self.pvalue[index]),
            int(self.n_informative[index]),
            float(self.statistic[index]),
            self.confidence,
        )

    def __iter__(self) -> Iterator[Contrast]:
        return (self[k] for k in range(len(self)))


def contrast(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    i: NamedIndex,
    j: NamedIndex,
    *,
    theta: ArrayLike,
    bias: float = 0.0,
    confidence: float = 0.95,
    names: Names = None,
) -> Contrast:
    """Estimate and test how much the response changes when `i` is in and `j` is out, against the reverse.

    `x` holds 0/1 masks; `theta` and `bias` come from other rows. Swapping `i` and `j` negates the effect. i, j: by
    number, or by name where `x` is a DataFrame or `names` are given, as in `swap_test`.

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
    sample = mask_sample(x, y)
    known = names_of(x, names, sample.d)
    pair = check_pair(as_index(i, known), as_index(j, known), sample.d)
    return contrast_results(*_predicted(sample, theta, bias), pair, confidence, 1)[0]


def contrast_many(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    pairs: ArrayLike,
    *,
    theta: ArrayLike,
    bias: float = 0.0,
    confidence: float = 0.95,
    threads: int = 1,
    names: Names = None,
) -> ContrastResults:
    """`contrast` for every row of `pairs`, (P, 2) or (P, 2, g); the predictions are made and sorted once for all.

    Compiled, O(n) per pair. Entry p equals `contrast` on that pair, for any number of threads.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((4000, 20)) < 0.5
    >>> y = 0.5 * x[:, 3] + rng.standard_normal(4000)
    >>> contrast_many(x, y, [(3, 7), (5, 6)], theta=np.zeros(20)).pvalue < 1e-6
    array([ True, False])
    """
    sample = mask_sample(x, y)
    checked = check_pairs(as_pairs(pairs, names_of(x, names, sample.d)), sample.d)
    return contrast_results(*_predicted(sample, theta, bias), checked, confidence, threads)


def mask_sample(x: ArrayLike | PackedMasks, y: ArrayLike) -> Sample:
    """A sample whose features are masks, bit-packed or bool."""
    sample = Sample.of(x, y)
    if isinstance(sample.x, PackedMasks) or is_masks(sample.x):
        return sample
    if not np.isin(sample.x, (0, 1)).all():
        raise ValueError("`x` must hold 0/1 masks for a contrast, but it has other values.")
    return Sample(sample.x.astype(np.bool_), sample.y)


def _predicted(sample: Sample, theta: ArrayLike, bias: float) -> tuple[Sample, AbsoluteResidual, Floats]:
    """(sample, score with θ̂ on its grid, f of every row)."""
    score = AbsoluteResidual(theta, bias).prepared(sample.x)
    check_residuals(sample.y, score)
    return sample, score, score.predictor(sample.x)


def check_residuals(y: Floats, score: AbsoluteResidual) -> None:
    """Refuse what may overflow: |r| ≤ |y − b| + Σ|θ̂|, and a difference of two is at most twice that."""
    with np.errstate(over="ignore"):
        bound = 2.0 * (np.abs(y - score.bias).max() + np.abs(score.theta).sum())
    if not np.isfinite(bound):
        raise ValueError("`y` and `theta` must be smaller: the residuals overflow.")


def contrast_results(
    sample: Sample, score: AbsoluteResidual, f: Floats, pairs: Ints, confidence: float, threads: int
) -> ContrastResults:
    """The contrasts of (P, 2, g) `pairs`, from predictions f of a score whose θ̂ is on its grid."""
    check_fraction("confidence", confidence)
    check_integer("threads", threads, 1)
    offset = sample.y - score.bias
    order = _exact_order(offset, f)
    used, left, right = used_columns(pairs)
    words = column_words(sample.x, used, order, threads)
    own = score.theta[pairs].sum(axis=2)  # What each group adds to f: exact.
    estimate, error, freedom, low, high, pvalue, statistic, rank_sum = np.empty((8, len(pairs)))
    n, smaller = np.empty((2, len(pairs)), np.int64)
    results = ContrastResults(estimate, error, freedom, low, high, pvalue, statistic, n, smaller, rank_sum, confidence)
    offset, f = offset[order], f[order]

    def run(start: int) -> None:
        part = slice(start, start + PAIRS_AT_ONCE)
        _fill(results, part, words, offset, f, left[part], right[part], own[part])

    in_chunks(run, len(pairs), PAIRS_AT_ONCE, threads)
    return results


def residuals_of(sample: Sample, score: AbsoluteResidual, f: Floats, pair: Ints) -> tuple[Floats, Floats]:
    """r of the rows with all of i and none of j, and of the reverse, for the (2, g) `pair`; θ̂ of `score` on its grid.

    What the compiled contrast sorts and sums; the plain way, for one pair.
    """
    left, right = (columns_of(sample.x, group).astype(np.bool_) for group in pair)
    offset = sample.y - score.bias
    sides = []
    for inside, outside, members in ((left, right, pair[0]), (right, left, pair[1])):
        rows = inside.all(axis=1) & ~outside.any(axis=1)
        sides.append(offset[rows] - (f[rows] - score.theta[members].sum()))
    return sides[0], sides[1]


def effect_interval(
    estimate: Floats, standard_error: Floats, freedom: Floats, confidence: Floats | float
) -> tuple[Floats, Floats]:
    """estimate ∓ t·standard_error, t the ½ + confidence/2 quantile of Student's law with `freedom` degrees.

    The whole line where the standard error is infinite: no interval is known there.
    """
    known = np.isfinite(standard_error)
    with np.errstate(over="ignore"):
        half = stdtrit(freedom, 0.5 + confidence / 2.0) * np.where(known, standard_error, 0.0)
        return np.where(known, estimate - half, -np.inf), np.where(known, estimate + half, np.inf)


def _exact_order(offset: Floats, f: Floats) -> Ints:
    """The rows sorted by offset − f as a real number, so that fl(offset − (f − own)) is sorted for any own."""
    rounded = offset - f
    other = offset - rounded
    error = (offset - (rounded + other)) + (other - f)  # Exact (Knuth).
    return np.lexsort((error, rounded))


def _fill(
    results: ContrastResults, part: slice, words: Words, offset: Floats, f: Floats, left: Ints, right: Ints, own: Floats
) -> None:
    """Write the results of some pairs."""
    from datamodels_inf.kernels.contrast_ranks import contrast_pairs  # Brings Numba.

    counts, effects, laws, ranks = contrast_pairs(words, offset, f, left, right, own)
    n, positive, informative = counts[:, 0] + counts[:, 1], counts[:, 2], counts[:, 3]
    results.n_informative[part] = n
    results.smaller[part] = np.minimum(counts[:, 0], counts[:, 1])
    results.rank_sum[part] = laws[:, 0] / 2.0
    results.statistic[part] = np.where(n > 0, (positive + 0.5 * (n - informative)) / np.maximum(n, 1), 0.5)
    estimate, error, freedom = effects.T
    error = np.where(np.isfinite(error), error, np.inf)
    results.estimate[part], results.standard_error[part], results.freedom[part] = estimate, error, freedom
    results.low[part], results.high[part] = effect_interval(estimate, error, freedom, results.confidence)
    laws[:, 0] = np.abs(laws[:, 0])
    many = informative > EXACT_UP_TO
    pvalue = results.pvalue[part]
    pvalue[many] = large_sample_tail(informative[many], *laws[many].T)
    for p in np.flatnonzero(~many):
        law = tuple(ranks[p, : informative[p]].tolist())
        pvalue[p] = exact_tail(law, int(laws[p, 0])) if law else 1.0
