"""The laws of rows behind `check_exchangeable`: equal and complementary masks, neighbours, extremes, drift, fit rows.

See `mask_laws` for what follows from exchangeability given the size of a mask.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc, logsumexp, ndtr, ndtri, pdtr, pdtrc, stdtr

from datamodels_inf.internal.checks import Ints
from datamodels_inf.internal.mask_laws import FEWEST_ROWS, Rows, log_choose
from datamodels_inf.masks import PackedMasks

SPARSE = 0.1
"""Where a smaller share of the images is in, or is out, counts are held against Poisson's law too."""
DRIFT_BLOCKS = 20


def log_equal(rows: Rows) -> float:
    """log P(two masks are equal) = Σ_c log Σ_s f_s²/C(n_c, s), f the frequencies of sizes, or by coins if larger."""
    return _log_match(rows, complement=False)


def log_complement(rows: Rows) -> float:
    """log P(one mask is the complement of another)."""
    return _log_match(rows, complement=True)


def _log_match(rows: Rows, complement: bool) -> float:
    total = 0.0
    for size, sums in zip(rows.class_sizes.tolist(), rows.sums.T, strict=True):
        frequency = np.bincount(sums, minlength=size + 1) / rows.n
        both = frequency * (frequency[::-1] if complement else frequency)
        s = np.flatnonzero(both)
        p = min(max(float(sums.mean() / size), 1e-12), 1.0 - 1e-12)
        coins = size * float(np.log(2.0 * p * (1.0 - p) if complement else p * p + (1.0 - p) ** 2))
        seen = float(logsumexp(np.log(both[s]) - log_choose(size, s))) if s.size else -np.inf
        total += max(seen, coins)
    return total


def repeat_pvalue(count: int, couples: float, log_chance: float) -> float:
    """P(Poisson(couples · chance) ≥ count)."""
    if count == 0:
        return 1.0
    expected = float(np.exp(min(700.0, np.log(max(1.0, couples)) + log_chance)))
    return float(pdtrc(count - 1, expected))


def neighbour_pvalue(masks: PackedMasks, rows: Rows) -> tuple[float, float]:
    """(p, images in common over the expected) of each mask with the next: given the sizes, hypergeometric."""
    if rows.n < FEWEST_ROWS:
        return 1.0, 1.0
    first, second, sizes = rows.sums[:-1], rows.sums[1:], rows.class_sizes
    expected = float((first * second / sizes).sum())
    freedom = np.maximum(sizes - 1.0, 1.0)
    variance = float((first * (sizes - first) * (second * (sizes - second)) / (sizes**2.0 * freedom)).sum())
    if variance <= 0.0 or expected <= 0.0:
        return 1.0, 1.0
    common = float(masks.common_with_next().sum())
    p = float(2.0 * ndtr(-abs(common - expected) / np.sqrt(variance)))
    share = float(rows.sizes.mean() / rows.d)
    if share < SPARSE:
        p = max(p, _poisson(common, expected))
    elif share > 1.0 - SPARSE:  # The images that both leave out are few then.
        missing = float((rows.d - rows.sizes[:-1] - rows.sizes[1:]).sum())
        p = max(p, _poisson(common + missing, expected + missing))
    return p, common / expected


def _poisson(count: float, expected: float) -> float:
    """Twice the smaller tail of a Poisson law."""
    if expected <= 0.0:
        return 1.0
    upper = pdtrc(count - 1.0, expected) if count >= 1.0 else 1.0
    return float(min(1.0, 2.0 * min(upper, pdtr(count, expected))))


def noticed_overlap(rows: Rows, level: float) -> float:
    """By how many per cent neighbours may have more or fewer images in common and be noticed in half of the cases."""
    p = max(1e-9, float(rows.sizes.mean() / rows.d))
    return float(-ndtri(level / 2.0) * 100.0 * (1.0 - p) / p / np.sqrt(max(1, rows.n - 1) * max(1, rows.d - 1)))


def extreme_pvalue(rows: Rows, count: int) -> float:
    """P(Poisson(n·chance) ≥ count) for `count` empty or full masks.

    The chance is the largest of that of independent coins, p^d + (1 − p)^d, that of a normal law with the spread of the
    other sizes, and twice the share of masks that are one image away.
    """
    if count == 0:
        return 1.0
    others = rows.sizes[(rows.sizes > 0) & (rows.sizes < rows.d)]
    if others.size == 0:
        return 0.0
    mean, sd = float(others.mean()), float(others.std())
    chance = max(p**rows.d + (1.0 - p) ** rows.d for p in (mean / rows.d, float(rows.sizes.mean()) / rows.d))
    if sd > 0.0:
        chance = max(chance, float(ndtr((0.5 - mean) / sd) + ndtr((mean + 0.5 - rows.d) / sd)))
    chance = max(chance, 2.0 * float(((rows.sizes == 1) | (rows.sizes == rows.d - 1)).mean()))
    return float(pdtrc(count - 1, rows.n * chance))


def drift_pvalue(rows: Rows) -> float:
    """The smallest p-value of the size and of each class's share of it, after Bonferroni."""
    parts = [rows.sizes] if rows.n_classes == 1 else [rows.sizes, *rows.sums.T]
    return min(1.0, len(parts) * min(_drift_pvalue(part) for part in parts))


def _drift_pvalue(sizes: Ints) -> float:
    """Twice the smaller p-value of two tests: a linear trend of the sizes along the rows, and means of blocks (F)."""
    n = len(sizes)
    if n < FEWEST_ROWS or sizes.min() == sizes.max():
        return 1.0
    centred = sizes - sizes.mean()
    place = np.arange(n) - (n - 1) / 2.0
    r = float(centred @ place / np.sqrt((centred @ centred) * (place @ place)))
    trend = 2.0 * float(stdtr(n - 2, -abs(r) * np.sqrt((n - 2) / max(1e-300, 1.0 - r * r))))
    blocks = min(DRIFT_BLOCKS, n // 10)
    parts = np.array_split(centred, blocks)
    between = sum(len(part) * part.mean() ** 2 for part in parts)
    total = float(centred @ centred)
    within = max(1e-12 * total, total - between)
    f = between / (blocks - 1) / (within / (n - blocks))
    return min(1.0, 2.0 * trend, 2.0 * float(fdtrc(blocks - 1, n - blocks, f)))


def fit_pvalue(columns: Ints, fit_columns: Ints, rows: Rows, fit: Rows) -> tuple[float, float]:
    """(p, correlation) of how often each image is in the tested and in the fit rows: independent, but for the classes.

    With column sums a and b, centred within their class of n_c images, Σ a·b has mean 0 and variance
    Σ_c Σκ·Σκ′·n_c²/(n_c − 1).
    """
    a, b = (
        values - (r.sums.sum(axis=0) / r.class_sizes)[r.classes] for values, r in ((columns, rows), (fit_columns, fit))
    )
    sizes = rows.class_sizes
    kappas = rows.kappa.sum(axis=0) * fit.kappa.sum(axis=0)
    variance = float((kappas * sizes**2 / np.maximum(sizes - 1.0, 1.0))[sizes > 1].sum())
    if variance <= 0.0 or min(rows.n, fit.n) < FEWEST_ROWS or rows.d < FEWEST_ROWS:
        return 1.0, 0.0
    product = float(a @ b)
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(2.0 * ndtr(-abs(product) / np.sqrt(variance))), product / size if size else 0.0


def noticed_drift(sizes: Ints, level: float) -> float:
    """The change of the size from the first row to the last that a linear trend must make, noticed half of the time."""
    return float(-ndtri(level / 4.0) * sizes.std() * np.sqrt(12.0 / len(sizes)))
