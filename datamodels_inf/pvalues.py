"""p-values of counts, for any bound on how far a win's probability π may be from ½ under the null."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from datamodels_inf.internal.checks import Floats, Ints


def hoeffding_pvalue(statistic: Floats, samples: int, shift: float) -> Floats:
    """min(1, 2·exp(−2·samples·(|U − ½| − shift)²)), and 1 where |U − ½| ≤ shift.

    `samples` independent comparisons average to U, and |E U − ½| ≤ shift under the null. With samples = n/2 this is
    the paper's 2·exp(−n(…)²).

    >>> hoeffding_pvalue(np.array([0.5, 0.55]), 500, 0.0).round(3)  # n = 1000; the exact p-value of 0.55 is 0.028.
    array([1.   , 0.164])
    """
    excess = np.abs(np.asarray(statistic, np.float64) - 0.5) - shift
    p = 2.0 * np.exp(-2.0 * samples * np.maximum(excess, 0.0) ** 2)
    return np.asarray(np.where(excess <= 0.0, 1.0, np.minimum(1.0, p)))


def binomial_pvalue(wins: Ints, trials: Ints | int, shift: float, *, steered: bool = False) -> Floats:
    """P(B ≥ h/2 + c) + P(B ≤ h/2 − c) with B ~ Bin(h, ½ + shift) and c = |K − h/2|, at most 1.

    Valid for every K ~ Bin(h, π) with |π − ½| ≤ shift, since the two-sided tail grows with |π − ½|. If each trial has a
    π of its own that the trials before it may choose (`steered`), it is not: whoever leans to the side that is ahead
    has |K − h/2| ≥ c more often. Then 2·P(B ≥ h/2 + c), since neither K nor h − K is stochastically larger than B.

    >>> wins, trials = np.array([60]), 90
    >>> [binomial_pvalue(wins, trials, shift).round(3).tolist() for shift in (0.0, 0.05)]
    [[0.002], [0.016]]
    >>> binomial_pvalue(wins, trials, 0.05, steered=True).round(3)
    array([0.032])
    """
    k, h = np.broadcast_arrays(np.asarray(wins, np.int64), np.asarray(trials, np.int64))
    high = np.maximum(k, h - k)
    base = int(h.max(initial=0)) + 1
    if k.size == 1 or base > 2**31:
        return _two_tails(high, h, shift, steered)
    # Many tests share few outcomes (max(K, h − K), h), and a tail costs more than a look-up.
    outcomes, inverse = np.unique(high * base + h, return_inverse=True)
    return np.asarray(_two_tails(outcomes // base, outcomes % base, shift, steered)[inverse.reshape(k.shape)])


def _two_tails(high: Ints, size: Ints, shift: float, steered: bool) -> Floats:
    upper = binomial_upper_tail(high, size, 0.5 + shift)
    lower = upper if steered else binomial_upper_tail(high, size, 0.5 - shift)
    return np.asarray(np.minimum(1.0, upper + lower))


def binomial_upper_tail(k: Ints, trials: Ints, probability: Floats | float) -> Floats:
    """P(Bin(trials, probability) ≥ k), accurate far out in the tail."""
    inside = (k > 0) & (k <= trials)
    successes = np.where(inside, k, 1)
    tail = betainc(successes, np.maximum(trials - successes, 0) + 1.0, np.clip(probability, 0.0, 1.0))
    return np.asarray(np.where(inside, tail, np.where(k <= 0, 1.0, 0.0)))
