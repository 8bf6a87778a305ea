"""Deliberately naive references: copy x, swap the columns, loop over the samples. And broken ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.stats import t as student

from datamodels_inf.scores import on_grid
from datamodels_inf.signed_rank import signed_rank_pvalue


def swapped_copy(x, i, j):
    copy = np.array(x)
    for a, b in zip(np.atleast_1d(i), np.atleast_1d(j), strict=True):
        copy[:, [a, b]] = copy[:, [b, a]]
    return copy


def naive_swap_counts(x, y, i, j, score):
    """(wins, ties) of Algorithm 1, sample by sample."""
    h = len(y) // 2
    wins = ties = 0
    other = swapped_copy(x, i, j)
    for m in range(h):
        a = score(x[m : m + 1], y[m : m + 1])[0]
        b = score(other[m + h : m + h + 1], y[m + h : m + h + 1])[0]
        wins += a > b
        ties += a == b
    return int(wins), int(ties)


def naive_paired_counts(x, y, i, j, score):
    """(wins, ties) of D = T(x, y) − T(swap(x), y), sample by sample."""
    other = swapped_copy(x, i, j)
    wins = ties = 0
    for m in range(len(y)):
        d = score(x[m : m + 1], y[m : m + 1])[0] - score(other[m : m + 1], y[m : m + 1])[0]
        wins += d > 0
        ties += d == 0
    return int(wins), int(ties)


def binomial_pmf(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def naive_exact_pvalue(k, h, shift):
    """The definition, summed term by term."""
    c = abs(k - h / 2)
    pmf = binomial_pmf(h, 0.5 + shift)
    return min(
        1.0, sum(pmf[b] for b in range(h + 1) if b >= h / 2 + c) + sum(pmf[b] for b in range(h + 1) if b <= h / 2 - c)
    )


def broken_pvalue(x, y, i, j, score, shift):
    """The test with the mistake that is easily made: a tie always counts as a win."""
    wins, ties = naive_swap_counts(x, y, i, j, score)
    return naive_exact_pvalue(wins + ties, len(y) // 2, shift)


def naive_residuals(x, y, i, j, theta, bias):
    """(r | I in and J out, r | I out and J in), mask by mask; θ̂ on the grid of the library, so that sums are exact."""
    i, j, theta = np.atleast_1d(i), np.atleast_1d(j), on_grid(np.asarray(theta, float))
    sides = [], []
    for row, response in zip(np.asarray(x, bool), y, strict=True):
        rest = math.fsum(t for k, t in enumerate(theta) if row[k] and k not in i and k not in j)
        for side, (inside, outside) in zip(sides, ((i, j), (j, i)), strict=True):
            if row[inside].all() and not row[outside].any():
                side.append((response - bias) - rest)
    return np.array(sides[0]), np.array(sides[1])


def naive_contrast(x, y, i, j, theta, bias=0.0, confidence=0.95):
    """(estimate, low, high, pvalue, statistic, n_informative) by their definitions."""
    a, b = naive_residuals(x, y, i, j, theta, bias)
    d = np.concatenate([a, -b])
    share = float(np.mean((np.sign(d) + 1) / 2)) if d.size else 0.5
    return *naive_welch(a, b, confidence), signed_rank_pvalue(d)[0], share, d.size


def naive_welch(a, b, confidence):
    """(difference of the means, low, high), rounded only at the end: sums of fractions."""
    if not (a.size and b.size):
        return np.nan, -np.inf, np.inf
    means = [sum(map(Fraction, side)) / side.size for side in (a, b)]
    estimate = float(means[0] - means[1])
    if min(a.size, b.size) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return estimate, -np.inf, np.inf
    variance = sum(
        sum((Fraction(value) - mean) ** 2 for value in side) / (side.size - 1) / side.size
        for side, mean in zip((a, b), means, strict=True)
    )
    half = student.ppf(0.5 + confidence / 2, min(a.size, b.size) - 1) * math.sqrt(variance)
    return estimate, estimate - half, estimate + half


def broken_contrast_pvalue(x, y, i, j, theta):
    """The signed-rank test of residuals in which i and j were not left out: a swap then changes more than a sign."""
    x = np.asarray(x, float)
    return signed_rank_pvalue((y - x @ theta) * (x[:, i] - x[:, j]))[0]
