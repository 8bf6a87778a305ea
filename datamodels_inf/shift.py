"""τ_X, the shift that the swap itself causes in X (METHOD 3 and 11): a bound for Gaussians, a look at real features.

Whether masks are exchangeable, so that τ_X = 0, is the question of `datamodels_inf.exchangeability`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.checks import Index, Ints, as_array, check_nonnegative, check_pair, check_vector
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pvalues import binomial_pvalue
from datamodels_inf.scores import Features

MARGINALS = 1e-6
"""The chance that features with τ_X = 0 are refused."""
QUANTILES = 15


def tau_x_gaussian(mean: ArrayLike, cov: ArrayLike, i: Index, j: Index) -> float:
    """τ_X = ½·[tr(−I + PΣ⁻¹PΣ) + (μ − Pμ)ᵀΣ⁻¹(μ − Pμ)]^{1/2} for X ~ N(μ, Σ), P the permutation that swaps i and j.

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
    pair = check_pair(i, j, mu.size)[0]
    order = np.arange(mu.size)
    order[pair[0]], order[pair[1]] = pair[1], pair[0]
    trace = np.trace(np.linalg.solve(sigma[np.ix_(order, order)], sigma)) - mu.size
    gap = mu - mu[order]
    divergence = trace + gap @ np.linalg.solve(sigma, gap)
    return 0.5 * float(np.sqrt(max(0.0, divergence)))


def check_marginals(x: NDArray[np.generic], pairs: Ints) -> None:
    """Refuse τ_X = 0 for columns whose marginals differ: two exchangeable columns have one law.

    Of each two columns of the (P, 2, g) `pairs` that are swapped, McNemar's test at QUANTILES thresholds t: exchanged
    columns make x_i ≤ t < x_j and x_j ≤ t < x_i equally likely, however the two depend on each other. Refused where
    a p-value is at most `MARGINALS` over the number of tests.
    """
    couples = np.unique(np.sort(pairs.transpose(0, 2, 1).reshape(-1, 2), axis=1), axis=0)
    level = MARGINALS / (len(couples) * QUANTILES)
    for i, j in couples.tolist():
        left, right = x[:, i], x[:, j]
        both = np.sort(np.concatenate([left, right]))
        thresholds = both[np.linspace(0, both.size - 1, QUANTILES + 2).astype(np.int64)[1:-1]]
        up, down = (
            np.array([np.count_nonzero((a <= t) & (t < b)) for t in thresholds])
            for a, b in ((left, right), (right, left))
        )
        if binomial_pvalue(up, up + down, 0.0).min() <= level:
            raise ValueError(
                f"`tau_x` must be given: columns {i} and {j} of `x` have different laws, so swapping them changes the "
                "law of `x` itself, and a p-value with tau_x = 0 would not be valid; give a bound on that change "
                "(`tau_x_gaussian` for Gaussian features), or tau_x=0.0 if you know that it is none."
            )


def allowed_shift(x: Features, pairs: Ints, tau_x: float | None) -> float:
    """τ_X as it is given; else 0, after a look at the marginals where x is not a 0/1 mask."""
    if tau_x is not None:
        return check_nonnegative("tau_x", tau_x)
    if not isinstance(x, PackedMasks) and x.dtype != np.bool_ and not np.isin(x, (0, 1)).all():
        check_marginals(x, pairs)
    return 0.0
