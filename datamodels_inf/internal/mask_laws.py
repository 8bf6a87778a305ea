"""The laws behind `check_exchangeable`: how far exchangeable, independent masks deviate by chance, as p-values.

Given its size S, an exchangeable mask of d images is uniform among the masks of that size. With p = S/d, κ = p(1 − p)
and z_i = x_i − p this gives, whatever the law of S,

    E z_i = 0,  E z_i² = κ,  E z_i z_j = −κ/(d − 1),  class sums and overlaps hypergeometric.

With strata, the same holds within each class, S being the class's own sum. Sums of squares are held against a gamma
law of the same mean and variance and against the normal law; the larger tail counts, since neither is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, ndtr, ndtri

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pvalues import binomial_upper_tail

FEWEST_ROWS = 20
"""With fewer rows than this, sums of squares say nothing reliable, and are not asked."""
PAIR_COLUMNS = 1024
"""Of more images than this, neighbouring couples drawn at random are looked at: half a million pairs."""
PAIR_ROWS = 20_000
LEAST_INSIDE = 5
"""Masks that hold, or leave out, fewer images of a class than this make correlations that are no sums of many."""
MOST_CLASSES = 1000
STRATA = 10
BITWISE = 64
"""Classes up to which their images are counted on bits, one class after the other; more by a product of matrices."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The size of each mask, in all and by class.

    classes: (d,) the class of each image, 0 to C − 1. sums: (n, C), how many images of each class a mask holds.
    """

    classes: Ints
    class_sizes: Ints
    sums: Ints

    @classmethod
    def of(cls, masks: PackedMasks, labels: Ints) -> Rows:
        """Count the images of each class in every mask; `labels` (d,) are any whole numbers."""
        classes, sizes = _numbered(labels)
        if len(sizes) == 1:
            return cls(classes, sizes, masks.row_sums()[:, None])
        if len(sizes) <= BITWISE:
            return cls(classes, sizes, masks.common_with(classes == np.arange(len(sizes))[:, None]))
        members = (classes[:, None] == np.arange(len(sizes))).astype(np.float32)  # Sums up to 2²⁴ are exact.
        return cls(classes, sizes, (masks @ members).astype(np.int64))

    def with_rows(self, more: Rows) -> Rows:
        """These rows and more of the same images."""
        return Rows(self.classes, self.class_sizes, np.concatenate([self.sums, more.sums]))

    @property
    def n(self) -> int:
        """The number of masks."""
        return len(self.sums)

    @property
    def d(self) -> int:
        """The number of images."""
        return len(self.classes)

    @property
    def n_classes(self) -> int:
        """C, at most MOST_CLASSES."""
        return len(self.class_sizes)

    @property
    def sizes(self) -> Ints:
        """(n,): S of each mask."""
        return np.asarray(self.sums.sum(axis=1))

    @property
    def kappa(self) -> Floats:
        """(n, C): κ = p(1 − p), p the share of the class that is in the mask."""
        p = self.sums / self.class_sizes
        return np.asarray(p * (1.0 - p))


def _numbered(labels: Ints) -> tuple[Ints, Ints]:
    """(class of each image as 0, 1, …; their sizes). Beyond MOST_CLASSES, the smallest classes count as one."""
    _, classes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if len(sizes) > MOST_CLASSES:
        rank = np.empty(len(sizes), np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        classes = np.minimum(rank[classes], MOST_CLASSES - 1)
        sizes = np.bincount(classes)
    return classes, sizes


def two_sided(value: float, mean: float, variance: float) -> float:
    """Twice the smaller tail of a sum of squares with this mean and variance; see the module's docstring."""
    if variance <= 1e-9 * mean or mean <= 0.0:  # The square does not vary: that of a single image in half of the masks.
        return 1.0
    z, shape, scaled = (value - mean) / np.sqrt(variance), mean**2 / variance, value * mean / variance
    upper, lower = max(ndtr(-z), gammaincc(shape, scaled)), max(ndtr(z), gammainc(shape, scaled))
    return float(min(1.0, 2.0 * min(upper, lower)))


def log_choose(n: Ints | int, k: Ints | Floats) -> Floats:
    """log of the binomial coefficient."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


# Classes.


def class_pvalue(rows: Rows) -> tuple[float, int]:
    """(p, most deviating class) of the class sums given the size of each mask: their means and their variances.

    A = S_c − S·n_c/d has mean 0 and variance v·n_c(d − n_c)/d, v = S(d − S)/(d(d − 1)). Of each class Σ_m A and Σ_m A²;
    of all together Pearson's Σ_c A²/(n_c·v), which has mean C − 1. Bonferroni over all.
    """
    n, d, sizes = rows.n, rows.d, rows.class_sizes
    if rows.n_classes < 2 or d < 4:
        return 1.0, 0
    if n < FEWEST_ROWS:
        return float(np.exp(_log_all_constant(rows))) if (rows.sums == rows.sums[0]).all() else 1.0, 0
    s = rows.sizes.astype(np.float64)
    v = s * (d - s) / (d * (d - 1.0))
    deviations = rows.sums - s[:, None] * (sizes / d)
    variances = v.sum() * sizes * (d - sizes) / d
    if not variances.all():
        return 1.0, 0
    kurtosis = _mean_kurtosis(d, sizes, rows.sizes, v)
    means = 2.0 * ndtr(-np.abs(deviations.sum(axis=0)) / np.sqrt(variances))
    means = np.where(variances >= 25.0, means, 1.0)
    squares = np.square(deviations).sum(axis=0) / variances  # Mean 1.
    spreads = np.array([two_sided(n * q, n, n * (k - 1.0)) for q, k in zip(squares, kurtosis, strict=True)])
    still = np.exp(_log_constant(rows))  # Class sums that do not vary at all may do so by chance.
    spreads = np.where(squares == 0.0, np.maximum(spreads, still), spreads)
    varies = variances / n >= 0.2  # Sums that hardly vary are no sums of many.
    spreads = np.where(varies, spreads, 1.0)
    weights = np.where(varies, (d - sizes) / d, 0.0)
    pooled_variance = n * _pearson_variance(sizes, d, kurtosis, weights)
    pooled = two_sided(n * float(weights @ squares), n * float(weights.sum()), pooled_variance)
    pooled = max(pooled, float(still.prod())) if not squares.any() else pooled
    each = np.minimum(means, spreads)
    return min(1.0, 3.0 * pooled, 3.0 * rows.n_classes * float(each.min())), int(np.argmin(each))


def _mean_kurtosis(d: int, class_sizes: Ints, sizes: Ints, v: Floats) -> Floats:
    """(C,): 1 + n·Σ_m Var(A²)/(Σ_m Var(A))², from E A⁴/(E A²)² of a hypergeometric A for each size of a mask."""
    s, first, counts = np.unique(sizes, return_index=True, return_counts=True)
    inside = (s > 0) & (s < d)
    s, weight = s[inside, None].astype(np.float64), (counts * np.square(v[first]))[inside, None]
    k = class_sizes.astype(np.float64)
    a, b = k * (d - k), s * (d - s)
    top = (d - 1.0) * d * d * (d * (d + 1.0) - 6.0 * a - 6.0 * b) + 6.0 * a * b * (5.0 * d - 6.0)
    kurtosis = 3.0 + top / (a * b * (d - 2.0) * (d - 3.0))
    return np.asarray(1.0 + len(sizes) * (weight * (kurtosis - 1.0)).sum(axis=0) / v.sum() ** 2)


def _pearson_variance(sizes: Ints, d: int, kurtosis: Floats, weights: Floats) -> float:
    """Var Σ_c w_c·A_c²/Var(A_c); sums of two classes correlate by −√(n n′/((d − n)(d − n′)))."""
    odds = np.sqrt(sizes / (d - sizes))
    shared = 2.0 * np.square(np.outer(odds, odds)) * np.outer(weights, weights)
    np.fill_diagonal(shared, 0.0)
    return float(np.square(weights) @ (kurtosis - 1.0) + shared.sum())


def _log_constant(rows: Rows) -> Floats:
    """(C,): log of the chance that a class sum stays at S·n_c/d in all masks, for masks where that is whole."""
    k = np.rint(rows.sizes[:, None] * rows.class_sizes / rows.d)
    others = rows.d - rows.class_sizes
    total = log_choose(rows.d, rows.sizes)[:, None]
    return np.asarray(
        (log_choose(rows.class_sizes, k) + log_choose(others, rows.sizes[:, None] - k) - total).sum(axis=0)
    )


def _log_all_constant(rows: Rows) -> float:
    """log of the chance that after the first mask all others have its class sums, given their sizes."""
    each = log_choose(rows.class_sizes, rows.sums).sum(axis=1) - log_choose(rows.d, rows.sizes)
    return float(each[1:].sum())


def noticed_variance(rows: Rows, level: float) -> float:
    """How far the variance of class sums may be off and be noticed in half of the cases."""
    return float(-ndtri(level / 6.0)) * float(np.sqrt(2.0 / rows.n / max(1, rows.n_classes - 1)))


# Images.


def column_pvalue(columns: Ints, rows: Rows) -> tuple[float, int, float, float]:
    """(p, most deviating column, the share of masks expected there, variance of the column sums over the expected).

    A column sum is binomial, or less dispersed where sizes vary (Hoeffding 1956). All of a class together:
    Σ(c − mean)²·(n_c − 1)/(n_c·Σκ) has mean n_c − 1.
    """
    outliers = _outlier_pvalues(columns, rows)
    worst = int(np.argmin(outliers))
    kappa, sizes = rows.kappa.sum(axis=0), rows.class_sizes
    mean = rows.sums.sum(axis=0) / sizes
    squares = np.bincount(rows.classes, np.square(columns - mean[rows.classes]), len(sizes))
    varies = (kappa > 0.0) & (sizes > 1)
    value = float((squares[varies] * (sizes[varies] - 1.0) / (sizes[varies] * kappa[varies])).sum())
    freedom = float((sizes[varies] - 1.0).sum())
    spread = 1.0
    if freedom > 0.0 and rows.n >= FEWEST_ROWS:
        spread = two_sided(value, freedom, freedom * max(0.5, 2.0 + (_kurtosis(rows) - 3.0) / rows.n))
    p = min(1.0, 2.0 * rows.d * float(outliers[worst]), 2.0 * spread)
    share = float(mean[rows.classes[worst]] / rows.n)
    return p, worst, share, value / freedom if freedom else 1.0


def is_outlier(columns: Ints, rows: Rows, column: int, level: float) -> bool:
    """Whether this column alone contradicts the law."""
    return bool(2.0 * rows.d * _outlier_pvalues(columns, rows)[column] <= level)


def _outlier_pvalues(columns: Ints, rows: Rows) -> Floats:
    """min(1, 2·min(P(B ≥ k), P(B ≤ k))) for B ~ Bin(n, share of the class)."""
    share = (rows.sums.mean(axis=0) / rows.class_sizes)[rows.classes]
    n = np.full_like(columns, rows.n)
    upper = binomial_upper_tail(columns, n, share)
    lower = binomial_upper_tail(n - columns, n, 1.0 - share)
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(upper, lower)))


def noticed_rate(rows: Rows, level: float) -> float:
    """How far one image's share of masks may be off and be noticed in half of the cases."""
    return float(-ndtri(level / (4.0 * rows.d)) * np.sqrt(rows.kappa.mean() / rows.n))


def _kurtosis(rows: Rows) -> float:
    """E z⁴/κ² of a single image: 1/κ − 3."""
    kappa = float(rows.kappa.mean())
    return 1.0 / kappa - 3.0 if kappa > 0.0 else 3.0


# Pairs of images.


@dataclass(frozen=True)
class PairLaw:
    """What the correlations of some pairs of images say.

    ratio: their mean square over the expected. pair: the most deviating one, both in or both out in `together` of
    `n_rows` masks where `expected` would be; pair_pvalue is its own, after Bonferroni. pvalue: of all together.
    """

    pvalue: float
    ratio: float
    n_pairs: int
    n_rows: int
    pair: tuple[int, int]
    pair_pvalue: float
    together: int
    expected: float


def pair_law(masks: PackedMasks, rows: Rows) -> PairLaw:
    """Whether images go together, or apart, more than chance makes them.

    G = Σ_m z_i z_j has mean −Σκ/(n_c − 1) and variance V = Σ_m(E z_i²z_j² − (κ/(n_c − 1))²) for images of one class;
    mean 0 and variance Σκκ′ for images of two, which are independent given the class sums. So Σ(G − mean)²/V over N
    pairs has mean N. With k images and kurtosis K of z its variance is N·[2 + (K² − 3)/n + 2(k − 2)(K − 1)/n], but for
    terms that sums of a fixed size make smaller. And of each pair by itself: in how many masks both are in or both are
    out, a sum of independent coins that a binomial law bounds.
    """
    chosen, some = _sampled_columns(rows), _sampled_rows(rows.n)
    sums, n = rows.sums[some], len(some)
    if n < FEWEST_ROWS or chosen.size < 2:
        return PairLaw(1.0, 1.0, 0, n, (0, 0), 1.0, 0, 0.0)
    classes = rows.classes[chosen]
    x = masks.columns(chosen)[some].astype(np.float32)
    z = x - (sums / rows.class_sizes).astype(np.float32)[:, classes]
    upper = np.triu_indices(chosen.size, 1)
    both = classes[upper[0]], classes[upper[1]]
    mean, variance, chance = (moment[both] for moment in _pair_moments(rows.class_sizes, sums))
    varies = variance > 1e-9 * n
    if not varies.any():
        return PairLaw(1.0, 1.0, 0, n, (0, 0), 1.0, 0, 0.0)
    deviation = np.zeros(len(mean))
    deviation[varies] = ((z.T @ z)[upper].astype(np.float64) - mean)[varies] / np.sqrt(variance[varies])
    worst = int(np.argmax(np.abs(deviation)))
    i, j = (int(side[worst]) for side in upper)
    together = int((x[:, i] == x[:, j]).sum())
    own = min(1.0, int(varies.sum()) * _binomial_outlier(together, n, float(chance[worst])))
    pair = int(chosen[i]), int(chosen[j])
    full = np.minimum(sums, rows.class_sizes - sums).mean(axis=0) >= LEAST_INSIDE
    summed = varies & full[both[0]] & full[both[1]]
    count, kurtosis = int(summed.sum()), _kurtosis(rows)
    spread = 2.0 + (kurtosis**2 - 3.0 + 2.0 * (chosen.size - 2) * max(0.0, kurtosis - 1.0)) / n
    value = float(np.square(deviation[summed]).sum())
    p = two_sided(value, count, count * spread)
    return PairLaw(p, value / max(1, count), count, n, pair, own, together, n * float(chance[worst]))


def _binomial_outlier(k: int, n: int, chance: float) -> float:
    """min(1, 2·min(P(B ≥ k), P(B ≤ k))) for B ~ Bin(n, chance)."""
    upper = binomial_upper_tail(np.array([k]), np.array([n]), chance)
    lower = binomial_upper_tail(np.array([n - k]), np.array([n]), 1.0 - chance)
    return float(min(1.0, 2.0 * np.minimum(upper, lower)[0]))


def _pair_moments(class_sizes: Ints, sums: Ints) -> tuple[Floats, Floats, Floats]:
    """(C, C) each, by the classes of i and j: mean and variance of Σ_m z_i z_j, the chance that both do the same."""
    p = sums / class_sizes
    kappa = p * (1.0 - p)
    mean, variance = np.zeros((len(class_sizes),) * 2), kappa.T @ kappa
    chance = (p.T @ p + (1.0 - p).T @ (1.0 - p)) / len(sums)
    for c, size in enumerate(class_sizes.tolist()):
        s = sums[:, c].astype(np.float64)
        mean[c, c], variance[c, c] = _product_moments(size, s)
        if size > 1:
            chance[c, c] = 1.0 - 2.0 * float((s * (size - s)).sum() / (size * (size - 1.0) * len(sums)))
    return mean, variance, chance


def _product_moments(size: int, s: Floats) -> tuple[float, float]:
    """(mean, variance) of Σ_m z_i z_j, for images of a class of `size` of which s are in each mask."""
    if size < 2:
        return 0.0, 0.0
    p, ordered = s / size, size * (size - 1.0)
    both, one, none = s * (s - 1.0) / ordered, s * (size - s) / ordered, (size - s) * (size - s - 1.0) / ordered
    mean = -p * (1.0 - p) / (size - 1.0)
    square = both * (1.0 - p) ** 4 + 2.0 * one * np.square(p * (1.0 - p)) + none * p**4
    return float(mean.sum()), float((square - np.square(mean)).sum())


def _sampled_columns(rows: Rows) -> Ints:
    """All images, or couples of neighbours: images that go together are often neighbours in the file."""
    if rows.d <= PAIR_COLUMNS:
        return np.arange(rows.d)
    starts = np.random.default_rng(0).choice(rows.d // 2, PAIR_COLUMNS // 2, replace=False)
    return np.sort(np.concatenate([2 * starts, 2 * starts + 1]))


def _sampled_rows(n: int) -> Ints:
    return np.arange(n) if n <= PAIR_ROWS else np.linspace(0, n - 1, PAIR_ROWS).astype(np.int64)


def noticed_pairs(d: int, law: PairLaw, level: float) -> int:
    """How many of all pairs must always go together to be noticed in half of the cases: n·share·N = z·√(2N), or one."""
    chance, total = law.expected / law.n_rows, d * (d - 1) / 2
    if d <= PAIR_COLUMNS and 2.0 * total * chance**law.n_rows <= level / 2.0:
        return 1
    share = -ndtri(level / 4.0) * np.sqrt(2.0 / max(1, law.n_pairs)) / law.n_rows
    share = max(share, 0.7 / max(1, law.n_pairs))  # One of them must be in the sample.
    return int(np.ceil(min(1.0, share) * total))


def notices_strata(d: int, law: PairLaw, level: float) -> bool:
    """Whether the correlations would show ten strata: −STRATA/d in one of STRATA pairs."""
    return bool(law.n_rows * law.n_pairs * STRATA / d**2 > -ndtri(level / 4.0) * np.sqrt(2.0 * max(1, law.n_pairs)))
