"""τ_X, the shift that the swap itself causes in X (METHOD 3): a bound for Gaussians, a check for masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, pdtrc

from datamodels_inf.checks import Floats, Index, Ints, as_array, check_fraction, check_pair, check_vector
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pvalues import binomial_upper_tail


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


@dataclass(frozen=True)
class ExchangeabilityReport:
    """What the masks say about their law, and whether they contradict exchangeability.

    law: "fixed-size" (every mask has the same number of ones) or "bernoulli".
    proportion: share of ones. smallest, largest: row sums.
    column_pvalue: of the most extreme column mean, `column`, against its binomial law after Bonferroni.
    n_duplicates: rows that equal an earlier row; duplicate_pvalue: the chance of so many under the law.
    reasons: sentences, one per contradiction; empty when there is none.
    """

    law: Literal["fixed-size", "bernoulli"]
    proportion: float
    smallest: int
    largest: int
    column: int
    column_pvalue: float
    n_duplicates: int
    duplicate_pvalue: float
    reasons: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.reasons

    @property
    def tau_x(self) -> float:
        """0 for exchangeable masks of either law; NaN when the check failed, since then no bound is known."""
        return 0.0 if self.ok else float("nan")


def check_exchangeable(masks: ArrayLike | PackedMasks, *, alpha: float = 1e-3) -> ExchangeabilityReport:
    """Detect the law of 0/1 masks and check what exchangeability implies.

    Masks of a fixed size m drawn uniformly, and independent Bernoulli(γ) masks, are both exchangeable: τ_X = 0. Either
    way each column sum is Bin(n, proportion), and two rows are equal only by chance, as a rule never. A contradiction
    is a p-value ≤ `alpha`.
    """
    check_fraction("alpha", alpha)
    packed = masks if isinstance(masks, PackedMasks) else PackedMasks.from_bool(_as_masks(masks))
    if packed.n_models == 0:
        raise ValueError("`masks` must be a non-empty (n, d) array, but it has no rows.")
    rows, columns, n_duplicates = packed.row_sums(), packed.column_sums(), packed.duplicated_rows()
    n, d = len(rows), len(columns)
    proportion = float(rows.mean() / d)
    fixed = bool(rows.min() == rows.max())
    column_p = np.minimum(1.0, d * _binomial_outlier_pvalues(columns, n, proportion))
    column = int(np.argmin(column_p))
    duplicate_p = _duplicate_pvalue(n_duplicates, n, d, int(rows[0]) if fixed else None, proportion)
    reasons = []
    if column_p[column] <= alpha:
        reasons.append(
            f"column {column} is in {columns[column]} of {n} masks where {proportion:.3f} of them are expected "
            f"(p = {column_p[column]:.1e} after Bonferroni)"
        )
    if duplicate_p <= alpha:
        reasons.append(f"{n_duplicates} of {n} masks repeat an earlier one (p = {duplicate_p:.1e})")
    return ExchangeabilityReport(
        law="fixed-size" if fixed else "bernoulli",
        proportion=proportion,
        smallest=int(rows.min()),
        largest=int(rows.max()),
        column=column,
        column_pvalue=float(column_p[column]),
        n_duplicates=n_duplicates,
        duplicate_pvalue=duplicate_p,
        reasons=tuple(reasons),
    )


def _as_masks(masks: ArrayLike) -> NDArray[np.bool_]:
    array = as_array("masks", masks)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"`masks` must be a non-empty (n, d) array, but its shape is {array.shape}.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError("`masks` must hold only 0 and 1.")
    return array.astype(np.bool_)


def _binomial_outlier_pvalues(columns: Ints, n: int, proportion: float) -> Floats:
    """min(1, 2·min(P(B ≥ k), P(B ≤ k))) for B ~ Bin(n, proportion)."""
    size = np.full_like(columns, n)
    upper = binomial_upper_tail(columns, size, proportion)
    lower = binomial_upper_tail(n - columns, size, 1.0 - proportion)
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(upper, lower)))


def _duplicate_pvalue(duplicates: int, n: int, d: int, size: int | None, proportion: float) -> float:
    """P(Poisson(expected equal pairs) ≥ duplicates): two rows are equal with chance 1/C(d, m), or (γ² + (1−γ)²)^d."""
    if duplicates == 0:
        return 1.0
    if size is not None:
        log_equal = -float(gammaln(d + 1) - gammaln(size + 1) - gammaln(d - size + 1))
    else:
        log_equal = d * float(np.log(proportion**2 + (1.0 - proportion) ** 2))
    expected = float(np.exp(np.log(n) + np.log(n - 1) - np.log(2.0) + log_equal))
    return float(pdtrc(duplicates - 1, expected))
