"""The paired swap test: each sample is compared with its own swap, so all n samples carry information.

D = T(x, y) − T(swap(x), y) changes sign when x is swapped, hence

    P(D > 0) − P(D < 0) ≤ d_TV((X, Y), (X_swap, Y)) ≤ τ + τ_X  =: τ′.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from datamodels_inf.internal.checks import (
    Floats,
    Ints,
    Rng,
    check_choice,
    check_nonnegative,
    check_pair,
    check_pairs,
    seed_of,
)
from datamodels_inf.internal.column_names import NamedIndex, Names, as_index, as_pairs, names_of
from datamodels_inf.internal.column_words import in_chunks
from datamodels_inf.internal.comparison import Comparison, Counts, Sample, Score
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pvalues import binomial_pvalue, hoeffding_pvalue
from datamodels_inf.results import SwapTestResult, SwapTestResults
from datamodels_inf.signed_rank import signed_rank_pvalue
from datamodels_inf.tau_x import allowed_shift

PairedPvalue: TypeAlias = Literal["exact", "hoeffding", "signed-rank"]


def paired_swap_test(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    i: NamedIndex,
    j: NamedIndex,
    *,
    score: Score,
    tau: float = 0.0,
    tau_x: float | None = None,
    pvalue: PairedPvalue = "exact",
    rng: Rng = None,
    names: Names = None,
) -> SwapTestResult:
    """Test H0: E[d_TV(p(Y|X), p(Y|X_swap(i,j)))] ≤ τ by comparing each sample with its own swap.

    The statistic is U = (#{D > 0} + ½·#{D = 0}) / n. Its expectation is within τ′/2 of ½ under H0.

    Parameters
    ----------
    x, y, i, j, score, tau, tau_x, rng, names : as in `swap_test`.
    pvalue :
        "exact": for τ′ = 0 the binomial test of the signs of the informative D ≠ 0; for τ′ > 0 the tail of
        Bin(n, ½ + τ′/2) after a seeded coin for each tie.
        "hoeffding": min(1, 2·exp(−2n(|U − ½| − τ′/2)²)).
        "signed-rank": Wilcoxon's signed-rank test on D, which also uses its size. It needs D to be symmetric around 0,
        which H0 gives only for τ′ = 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((2000, 40)) < 0.5
    >>> theta = np.linspace(0, 0.4, 40)
    >>> y = x @ theta + rng.standard_normal(2000)
    >>> from datamodels_inf import SquaredResidual, swap_test
    >>> paired_swap_test(x, y, 0, 39, score=SquaredResidual(theta)).reject(0.01)
    True
    >>> swap_test(x, y, 0, 39, score=SquaredResidual(theta)).reject(0.01)
    False
    """
    sample = Sample.of(x, y)
    known = names_of(x, names, sample.d)
    pair = check_pair(as_index(i, known), as_index(j, known), sample.d)
    shift = half_shift(tau, allowed_shift(sample.x, pair, tau_x), pvalue)
    comparison = Comparison(sample, score)
    seed = seed_of(rng)
    counts = comparison.count(pair, seed if shift > 0.0 else None)
    return paired_results(comparison, pair, counts, shift, pvalue)[0]


def paired_swap_test_many(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    pairs: ArrayLike,
    *,
    score: Score,
    tau: float = 0.0,
    tau_x: float | None = None,
    pvalue: PairedPvalue = "exact",
    rng: Rng = None,
    threads: int = 1,
    names: Names = None,
) -> SwapTestResults:
    """`paired_swap_test` for every row of `pairs`, (P, 2) or (P, 2, g), against one score; see `swap_test_many`.

    >>> from datamodels_inf import SquaredResidual
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((2000, 40)) < 0.5
    >>> theta = np.linspace(0, 0.4, 40)
    >>> y = x @ theta + rng.standard_normal(2000)
    >>> paired_swap_test_many(x, y, [(0, 39), (0, 1)], score=SquaredResidual(theta)).reject(0.01)
    array([ True, False])
    """
    sample = Sample.of(x, y)
    checked = check_pairs(as_pairs(pairs, names_of(x, names, sample.d)), sample.d)
    shift = half_shift(tau, allowed_shift(sample.x, checked, tau_x), pvalue)
    comparison = Comparison(sample, score)
    seed = seed_of(rng)
    counts = comparison.count_many(checked, seed if shift > 0.0 else None, threads)
    return paired_results(comparison, checked, counts, shift, pvalue, threads)


def half_shift(tau: float, tau_x: float, pvalue: str) -> float:
    """τ′/2, how far P(D > 0) + ½P(D = 0) may be from ½ under H0."""
    check_choice("pvalue", pvalue, ("exact", "hoeffding", "signed-rank"))
    shift = (check_nonnegative("tau", tau) + check_nonnegative("tau_x", tau_x)) / 2.0
    if pvalue == "signed-rank" and shift > 0.0:
        raise ValueError(
            "`pvalue` must not be 'signed-rank' when tau + tau_x > 0: H0 then no longer makes the differences "
            "symmetric around 0, which the signed-rank test needs; use 'exact' or 'hoeffding'."
        )
    return shift


def paired_results(
    comparison: Comparison, pairs: Ints, counts: Counts, shift: float, pvalue: str, threads: int = 1
) -> SwapTestResults:
    """Statistics and p-values from the counts of a paired comparison; coins are needed only for shift > 0."""
    n = counts.size
    statistic = (counts.wins + 0.5 * counts.ties) / n
    if pvalue == "signed-rank":
        p = _signed_ranks(comparison, pairs, threads)
    elif pvalue == "hoeffding":
        p = hoeffding_pvalue(statistic, n, shift)
    elif shift == 0.0:
        p = binomial_pvalue(counts.wins, n - counts.ties, 0.0)
    else:
        statistic = (counts.wins + counts.coins) / n
        p = binomial_pvalue(counts.wins + counts.coins, n, shift)
    return SwapTestResults(statistic, p, n, counts.ties)


def _signed_ranks(comparison: Comparison, pairs: Ints, threads: int) -> Floats:
    p = np.empty(len(pairs))

    def rank(k: int) -> None:
        p[k] = signed_rank_pvalue(comparison.differences(pairs[k]))[0]

    in_chunks(rank, len(pairs), 1, threads)
    return p
