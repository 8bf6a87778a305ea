"""The paper's closeness-of-influence swap test, with Hoeffding's and the exact p-value."""

from __future__ import annotations

from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from datamodels_inf.internal.checks import (
    Rng,
    check_choice,
    check_nonnegative,
    check_pair,
    check_pairs,
    seed_of,
)
from datamodels_inf.internal.column_names import NamedIndex, Names, as_index, as_pairs, names_of
from datamodels_inf.internal.comparison import Comparison, Counts, Order, Sample, Score, halves
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pvalues import binomial_pvalue, hoeffding_pvalue
from datamodels_inf.results import SwapTestResult, SwapTestResults
from datamodels_inf.tau_x import allowed_shift

SwapPvalue: TypeAlias = Literal["hoeffding", "exact"]


def swap_test(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    i: NamedIndex,
    j: NamedIndex,
    *,
    score: Score,
    tau: float = 0.0,
    tau_x: float | None = None,
    pvalue: SwapPvalue = "hoeffding",
    order: Order = "permuted",
    rng: Rng = None,
    names: Names = None,
) -> SwapTestResult:
    """Test whether features `i` and `j` have a symmetric influence on the response (Mehrabi & Rossi 2023, Algorithm 1).

    H0: E[d_TV(p(Y|X), p(Y|X_swap(i,j)))] ≤ τ. With h = n/2, sample m is compared with the swapped sample m + h:

        U = (1/h) · #{ m ≤ h : T(x_m, y_m) ≥ T(swap(x_{m+h}), y_{m+h}) },

    a tie counting as a win when a fair coin says so.

    The p-value is valid if the rows are independent, if swapping i and j moves the law of x by at most `tau_x`, and if
    `score` has not seen these rows. Masks can be asked: `check_exchangeable`.

    Parameters
    ----------
    x, y : (n, d) features, dense or `PackedMasks`, and (n,) responses, rows independent. One row is left over if n is
        odd.
    i, j : two columns, or two disjoint groups of columns of equal size that are swapped one by one; by number, or by
        name where `x` is a DataFrame or `names` are given.
    score : T(x, y) → (n,), any callable that was not fitted on these rows. The scores of `datamodels_inf.scores` are
        updated in O(n) and never copy `x`; any other callable is called on a copy in which the columns are swapped.
    tau : the closeness τ that H0 allows.
    tau_x : d_TV(X, X_swap(i,j)) or a bound on it: 0 for exchangeable masks, `tau_x_gaussian` for Gaussian features.
        None is 0. Of an x that is not 0/1 that is a claim of yours, that swapping i and j does not change the law of x,
        which no test makes for you: it is refused only where two marginals clearly differ, and columns with equal
        marginals may still depend on the others in different ways.
    pvalue : "hoeffding", the paper's min(1, 2·exp(−n(|U − ½| − τ − τ_X)²)); or "exact", the binomial tail of the same
        U, which is never larger.
    order : "permuted": the rows are permuted by the seed before they are halved; "given", as the paper has it, takes
        them as they are, and needs that nothing drifts along the rows (the noise, the size of the masks).
    rng : seed or generator of the coins and the permutation. None is the seed 0.
    names : of the columns of `x`, in their order; those of a DataFrame by default.

    Examples
    --------
    >>> import numpy as np
    >>> from datamodels_inf import AbsoluteResidual
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((1000, 10))
    >>> theta = np.repeat([1.0, 2, 3, 4, 5], 2)
    >>> y = x @ theta + rng.standard_normal(1000)
    >>> swap_test(x, y, 0, 9, score=AbsoluteResidual(theta)).reject(0.1)
    True
    >>> swap_test(x, y, 0, 1, score=AbsoluteResidual(theta)).reject(0.1)
    False
    """
    sample = Sample.of(x, y)
    known = names_of(x, names, sample.d)
    pair = check_pair(as_index(i, known), as_index(j, known), sample.d)
    shift, seed = allowed_shift(sample.x, pair, tau_x), seed_of(rng)
    counts = Comparison(sample, score, halves=halves(len(sample.y), order, seed)).count(pair, seed)
    return swap_results(counts, tau, shift, pvalue)[0]


def swap_test_many(
    x: ArrayLike | PackedMasks,
    y: ArrayLike,
    pairs: ArrayLike,
    *,
    score: Score,
    tau: float = 0.0,
    tau_x: float | None = None,
    pvalue: SwapPvalue = "hoeffding",
    order: Order = "permuted",
    rng: Rng = None,
    threads: int = 1,
    names: Names = None,
) -> SwapTestResults:
    """`swap_test` for every row of `pairs`, an int array (P, 2), or (P, 2, g) for groups of g, against one score.

    The scores of `datamodels_inf.scores` run compiled, O(n) per pair. Row p equals `swap_test` on that pair with the
    same seed, for any number of threads.

    >>> import numpy as np
    >>> from datamodels_inf import AbsoluteResidual
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((1000, 10))
    >>> theta = np.repeat([1.0, 2, 3, 4, 5], 2)
    >>> y = x @ theta + rng.standard_normal(1000)
    >>> swap_test_many(x, y, [(0, 9), (0, 1)], score=AbsoluteResidual(theta)).reject(0.1)
    array([ True, False])
    """
    sample = Sample.of(x, y)
    checked = check_pairs(as_pairs(pairs, names_of(x, names, sample.d)), sample.d)
    shift, seed = allowed_shift(sample.x, checked, tau_x), seed_of(rng)
    counts = Comparison(sample, score, halves=halves(len(sample.y), order, seed)).count_many(checked, seed, threads)
    return swap_results(counts, tau, shift, pvalue)


def swap_results(counts: Counts, tau: float, tau_x: float, pvalue: str) -> SwapTestResults:
    """Statistics and p-values from the counts of an unpaired comparison."""
    check_choice("pvalue", pvalue, ("hoeffding", "exact"))
    shift = check_nonnegative("tau", tau) + check_nonnegative("tau_x", tau_x)
    wins, h = counts.wins + counts.coins, counts.size
    statistic = wins / h
    p = hoeffding_pvalue(statistic, h, shift) if pvalue == "hoeffding" else binomial_pvalue(wins, h, shift)
    return SwapTestResults(statistic, p, 2 * h, counts.ties)
