"""Every model tests: rows in blocks, each tested with a θ̂ of the rows before it, and one answer from all blocks.

Given all rows before a block, θ̂ of the block is fixed, and under H0 the signs of its D are fair coins. So

- *signed ranks*: with n_k informative masks in block k, Z = Σ_k c_k·V_k, c_k ∝ √n_k/sd(V_k), has the same law whatever
  the past was: that of independent signed-rank sums without ties. n_k is counted on masks, which no sign touches. A tie
  or a D = 0 is something that a θ̂ can choose by past signs, so margins get a seeded jitter that breaks all of them
  (`Target.jittered`): it knows nothing of the masks, so that H0 holds for jittered margins as it does for the others.
- *signs*: wins over all rows that the swap changes, a coin where D = 0. Their number is Bin(N, ½), and N is counted on
  masks too. Without the coins N would be a number that past signs can choose, and the test not valid. For τ > 0 a row
  may lean to either side by τ/2, and past signs may choose to which: each tail is that of Bin(N, ½ + τ/2).
- *effects*: the mean of the blocks' estimates, weighted by their informative masks. Weights by the blocks' variances
  would make errors smaller by a hundredth, but where noise is skewed they lean to blocks in which little happened.

A θ̂ fitted on rows *after* its block depends on their signs, and so do the signs of its D: cross-fitting is not valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from datamodels_inf.contrast import ContrastResults, effect_interval
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.coins import count_heads
from datamodels_inf.pvalues import binomial_pvalue
from datamodels_inf.signed_rank import GUARD, cumulants

STEPS = 60
FARTHEST = 45.0
"""Standard deviations: beyond, a p-value is 0 in floats."""
NAMES = ("wins", "ties", "changed")
RAISED = 1.01
FEWEST = 2
"""Masks on either side that an error needs."""
CLOSE = 1e-10
"""Newton's method ends at a relative step below this."""


@dataclass(frozen=True, eq=False)
class Signs:
    """The signs of D over the rows of one block, one entry per pair; changed: rows that the swap changes."""

    wins: Ints
    ties: Ints
    changed: Ints
    n: int


def combine_contrasts(parts: Sequence[ContrastResults]) -> ContrastResults:
    """One answer from the contrasts of the same pairs on blocks of rows, in their order, margins jittered."""
    if len(parts) == 1:
        return parts[0]
    n = np.stack([part.n_informative for part in parts], axis=1)
    total = n.sum(axis=1)
    estimate, error, freedom = _mean_effect(parts, n)
    low, high = effect_interval(estimate, error, freedom, parts[0].confidence)
    shares = np.stack([part.statistic for part in parts], axis=1)
    statistic = np.where(total > 0, (shares * n).sum(axis=1) / np.maximum(total, 1), 0.5)
    rank_sum = np.stack([part.rank_sum for part in parts], axis=1)
    smaller = np.sum([part.smaller for part in parts], axis=0)
    pvalue = rank_pvalue(rank_sum, n)
    return ContrastResults(
        estimate,
        error,
        freedom,
        low,
        high,
        pvalue,
        statistic,
        total,
        smaller,
        rank_sum.sum(axis=1),
        parts[0].confidence,
    )


def _mean_effect(parts: Sequence[ContrastResults], n: Ints) -> tuple[Floats, Floats, Floats]:
    """(mean, standard error, degrees of freedom by Satterthwaite), over the blocks with two masks on either side.

    Which these are, masks decide alone. A block in which neither side varies has an error of 0: its share of the
    variance is estimated without bias like any other's.
    """
    estimates = np.stack([part.estimate for part in parts], axis=1)
    errors = np.stack([part.standard_error for part in parts], axis=1)
    freedoms = np.stack([part.freedom for part in parts], axis=1)
    enough = np.stack([part.smaller for part in parts], axis=1) >= FEWEST
    varies = enough & np.isfinite(errors)
    has_error = np.asarray(enough.any(axis=1))
    used = np.where(has_error[:, None], enough, ~np.isnan(estimates))
    weights = np.where(used, n, 0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights /= weights.sum(axis=1, keepdims=True)  # NaN where no block has both sides.
        estimate = np.where(used.any(axis=1), np.where(used, weights * estimates, 0.0).sum(axis=1), np.nan)
        shares = np.where(varies, (weights * np.where(varies, errors, 0.0)) ** 2, 0.0)
        squares = shares.sum(axis=1)
        freedom = squares**2 / (shares**2 / freedoms).sum(axis=1)
    known = has_error & (squares > 0.0)
    return estimate, np.where(known, np.sqrt(squares), np.inf), np.where(known, freedom, 1.0)


def rank_pvalue(rank_sums: Floats, counts: Ints) -> Floats:
    """P(|Z| ≥ z), two-sided, of Z = Σ_k c_k·V_k without ties; rank_sums V and counts n are (P, blocks).

    Lugannani and Rice's tail, K(t) = Σ_k Σ_{r≤n_k} log cosh(r·c_k·t), taken at |Z| less half the largest step of a
    block, and raised by a hundredth and as in `signed_rank.untied_tail`. Measured against the exact law, all outcomes
    of some thirty sets of blocks of 0 to 100 masks: never below it; at most 1.06 times down to 1e-8 if all blocks have
    20 masks, and far above it only where one block has a few masks and others many. Each entry is the same in whatever
    company it is computed.
    """
    n = counts.astype(np.float64)
    scale = _scales(n)
    z = np.abs((scale * rank_sums).sum(axis=1)) - scale.max(axis=1)
    pvalue = np.ones(len(z))
    inside = z > 0.0
    pvalue[inside] = _upper_tails(z[inside], n[inside], scale[inside])
    return pvalue


def _scales(n: Floats) -> Floats:
    """c_k = √n_k/sd(V_k), so that ΣcV has variance 1; 0 for blocks without a mask."""
    variance = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0
    scale = np.sqrt(np.divide(n, variance, out=np.zeros_like(n), where=n > 0))
    total = np.sqrt((scale**2 * variance).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(scale, total, out=np.zeros_like(scale), where=total > 0))


def _upper_tails(z: Floats, n: Floats, scale: Floats) -> Floats:
    """Twice the tail at z > 0, at most 1."""
    z = np.minimum(z, np.minimum(FARTHEST, 0.999999 * (scale * n * (n + 1.0) / 2.0).sum(axis=1)))
    t = _saddlepoints(z, n, scale)
    exponent, _, curvature = _sums(t, n, scale)
    w, u = np.sqrt(2.0 * exponent), t * np.sqrt(curvature)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = np.where(w < 0.01, 0.0, 1.0 / u - 1.0 / w)
    step = scale.max(axis=1) * t
    tail = 2.0 * (ndtr(-w) + np.exp(-exponent) / np.sqrt(2.0 * np.pi) * correction)
    raised = RAISED * (1.0 + GUARD * step * np.tanh(n.sum(axis=1) * step))
    return np.asarray(np.minimum(1.0, tail * raised))


def _saddlepoints(z: Floats, n: Floats, scale: Floats) -> Floats:
    """The t with K′(t) = z. K′ is concave: Newton's steps from the normal t = z rise to it, each row on its own."""
    t = z.copy()
    moving = np.arange(len(z))
    for _ in range(STEPS):
        _, slope, curvature = _sums(t[moving], n[moving], scale[moving])
        step = (z[moving] - slope) / curvature
        t[moving] = np.maximum(t[moving] + step, 0.5 * t[moving])
        moving = moving[np.abs(step) > CLOSE * t[moving]]
        if not moving.size:
            break
    return t


def _sums(t: Floats, n: Floats, scale: Floats) -> tuple[Floats, Floats, Floats]:
    """(tK′ − K, K′, K″) at each t."""
    some = np.where(n > 0, n, 1.0)
    exponent, slope, curvature = cumulants(some, np.where(n > 0, scale, 1.0) * t[:, None])
    parts = (exponent, scale * slope, scale**2 * curvature)
    sums = (np.where(n > 0, part, 0.0).sum(axis=1) for part in parts)
    return next(sums), next(sums), next(sums)


def sign_pvalue(parts: Sequence[Signs], pairs: Ints, *, tau: float = 0.0, seed: int = 0) -> Floats:
    """That of Bin(N, ½): N rows that the swap changes, in all blocks, with a seeded coin where D = 0.

    For τ > 0, over all rows, 2·P(Bin(N, ½ + τ/2) ≥ max(K, N − K)), K the wins: given the past, a row's chance to win is
    at most τ/2 from ½, to a side that a θ̂ may choose by past signs (`binomial_pvalue`). 1 where D = 0 in all rows:
    there is nothing to learn from coins alone.

    >>> sign_pvalue([Signs(np.array([60]), np.array([0]), np.array([90]), 90)], np.array([[[0], [1]]])).round(3)
    array([0.002])
    """
    wins, ties, changed = (np.sum([getattr(part, name) for part in parts], axis=0) for name in NAMES)
    everything = sum(part.n for part in parts)
    rows = changed if tau == 0.0 else np.full_like(changed, everything)
    tied = rows - (everything - ties)
    won = wins + count_heads(pairs, seed, np.where(tied < rows, tied, 0))
    return np.asarray(np.where(tied < rows, binomial_pvalue(won, rows, tau / 2.0, steered=True), 1.0))


def sign_share(parts: Sequence[Signs]) -> Floats:
    """U: the share of rows with D > 0, ties counted half."""
    return np.asarray(sum(part.wins + 0.5 * part.ties for part in parts) / sum(part.n for part in parts))
