"""τ_X, the shift that the swap itself causes in X: a bound for Gaussians, a look at real features.

Whether masks are exchangeable, so that τ_X = 0, is the question of `datamodels_inf.exchangeability`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.internal.checks import Ints, as_array, check_nonnegative, check_pair, check_vector
from datamodels_inf.internal.column_names import NamedIndex, Names, as_index, names_of
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pvalues import binomial_pvalue
from datamodels_inf.scores import Features

MARGINALS = 1e-6
"""The chance that features with τ_X = 0 are refused."""
QUANTILES = 15


def tau_x_gaussian(mean: ArrayLike, cov: ArrayLike, i: NamedIndex, j: NamedIndex, *, names: Names = None) -> float:
    """τ_X = ½·[tr(−I + PΣ⁻¹PΣ) + (μ − Pμ)ᵀΣ⁻¹(μ − Pμ)]^{1/2} for X ~ N(μ, Σ), P the permutation that swaps i and j.

    i, j: by number, or by name where `cov` is a DataFrame or `names` are given, as in `swap_test`.

    >>> tau_x_gaussian([0.0, 0.0, 1.0], np.eye(3), 0, 1)
    0.0
    """
    mu = check_vector("mean", mean)
    sigma = as_array("cov", cov).astype(np.float64)
    if sigma.shape != (mu.size, mu.size) or not np.isfinite(sigma).all():
        raise ValueError(f"`cov` must be a finite ({mu.size}, {mu.size}) matrix, but its shape is {sigma.shape}.")
    if (
        mu.size == 0
        or np.abs(sigma - sigma.T).max() > 1e-8 * np.abs(sigma).max()
        or np.linalg.eigvalsh(sigma)[0] <= 0.0
    ):
        raise ValueError("`cov` must be symmetric and positive definite.")
    known = names_of(cov, names, mu.size)
    pair = check_pair(as_index(i, known), as_index(j, known), mu.size)[0]
    order = np.arange(mu.size)
    order[pair[0]], order[pair[1]] = pair[1], pair[0]
    trace = np.trace(np.linalg.solve(sigma[np.ix_(order, order)], sigma)) - mu.size
    gap = mu - mu[order]
    divergence = trace + gap @ np.linalg.solve(sigma, gap)
    return 0.5 * float(np.sqrt(max(0.0, divergence)))


def check_marginals(x: NDArray[np.generic], pairs: Ints) -> None:
    """Refuse τ_X = 0 for columns whose marginals differ: two exchangeable columns have one law.

    Of each two columns of the (P, 2, g) `pairs` that are swapped, McNemar's test at QUANTILES thresholds t of either
    column: exchangeable columns make x_i ≤ t < x_j and x_j ≤ t < x_i equally likely, however the two depend on each
    other. Refused where a p-value is at most MARGINALS over the number of tests.
    """
    couples = np.unique(np.sort(pairs.transpose(0, 2, 1).reshape(-1, 2), axis=1), axis=0)
    level = MARGINALS / (len(couples) * 2 * QUANTILES)
    least = 1.0 - np.log2(level)  # A difference of k counts has a p-value of at least 2^(1 − k).
    used, position = np.unique(couples, return_inverse=True)
    columns = np.sort(x[:, used].astype(np.float64), axis=0).T
    places = np.linspace(0, x.shape[0] - 1, QUANTILES + 2).astype(np.int64)[1:-1]
    for (i, j), (a, b) in zip(couples.tolist(), position.reshape(-1, 2).tolist(), strict=True):
        thresholds = np.concatenate([columns[a, places], columns[b, places]])
        gaps = np.searchsorted(columns[a], thresholds, "right") - np.searchsorted(columns[b], thresholds, "right")
        widest = int(np.argmax(np.abs(gaps)))
        if abs(gaps[widest]) >= least and _mcnemar(x[:, i], x[:, j], thresholds[widest]) <= level:
            raise ValueError(
                f"`tau_x` must be given: columns {i} and {j} of `x` have different laws, so swapping them changes the "
                "law of `x` itself, and a p-value with tau_x = 0 would not be valid; give a bound on that change "
                "(`tau_x_gaussian` for Gaussian features), or tau_x=0.0 if you know that it is none."
            )


def _mcnemar(left: NDArray[np.generic], right: NDArray[np.generic], threshold: float) -> float:
    """The sign test of the rows in which just one of the two is above the threshold."""
    above_left, above_right = np.greater(left, threshold), np.greater(right, threshold)
    up, down = np.count_nonzero(above_right & ~above_left), np.count_nonzero(above_left & ~above_right)
    return float(binomial_pvalue(np.array([up]), np.array([up + down]), 0.0)[0])


def allowed_shift(x: Features, pairs: Ints, tau_x: float | None) -> float:
    """τ_X as it is given; else 0, after a look at the marginals. Packed masks have `check_exchangeable` for that."""
    if tau_x is not None:
        return check_nonnegative("tau_x", tau_x)
    if not isinstance(x, PackedMasks) and len(pairs):
        check_marginals(x, pairs)
    return 0.0
