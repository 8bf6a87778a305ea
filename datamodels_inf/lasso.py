"""LASSO datamodels: one sparse linear fit from masks to margins per target.

For each target, with Z the masks' columns standardised to mean 0 and variance 1, and b unpenalised:

    minimise  (1/2n)·‖y − b − Zw‖² + λ‖w‖₁.

λ runs down a geometric path from λ_max, the smallest λ with w = 0. The λ with the least mean squared error on a
validation block, the last rows of the fit, is used to fit all fit rows once more. Weights are reported in mask coding:
they multiply the 0/1 masks themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.checks import Floats
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.masks import PackedMasks

MAX_DENSE_BYTES = 8 * 2**30
"""The design is held as float64 here; a larger one is refused rather than swapped to disk."""


def fit_lasso(
    masks: PackedMasks | NDArray[np.bool_],
    margins: NDArray[np.floating[Any]],
    *,
    n_lambdas: int = 100,
    lambda_ratio: float = 0.001,
    validation_rows: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Datamodel:
    """Fit a datamodel for every column of `margins`, (n_models, n_targets).

    Parameters
    ----------
    n_lambdas, lambda_ratio : length of the path, and its end as a share of λ_max.
    validation_rows : the last rows that choose λ; by default a fifth of all rows.
    progress : called with 1 after each target.
    """
    packed = masks if isinstance(masks, PackedMasks) else PackedMasks.from_bool(masks)
    n = packed.n_models
    validation = max(1, n // 5) if validation_rows is None else validation_rows
    _check(packed, margins, n_lambdas, lambda_ratio, validation)
    y = margins.astype(np.float64)
    everything = packed.to_bool().astype(np.float64)
    training, full = _Standardised(everything[: n - validation]), _Standardised(everything)
    weight, bias, lam = np.zeros((packed.n_train, y.shape[1])), np.zeros(y.shape[1]), np.zeros(y.shape[1])
    for t in range(y.shape[1]):
        lambdas = training.lambdas(y[: n - validation, t], n_lambdas, lambda_ratio)
        weights, biases = training.path(y[: n - validation, t], lambdas)
        errors = ((y[n - validation :, t, None] - biases - everything[n - validation :] @ weights) ** 2).mean(axis=0)
        lam[t] = lambdas[int(np.argmin(errors))]
        refit, intercept = full.path(y[:, t], lam[t : t + 1])
        weight[:, t], bias[t] = refit[:, 0], intercept[0]
        if progress is not None:
            progress(1)
    return Datamodel(weight, bias, lam)


class _Standardised:
    """Standardised columns with their Gram matrix, computed once for all targets; constant columns stay 0."""

    def __init__(self, x: Floats) -> None:
        self.mean = x.mean(axis=0)
        scale = np.sqrt(self.mean * (1.0 - self.mean))
        self.inverse_scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
        self.z = np.asfortranarray((x - self.mean) * self.inverse_scale)
        self.gram = self.z.T @ self.z

    def lambdas(self, y: Floats, count: int, ratio: float) -> Floats:
        """From λ_max = max|Zᵀ(y − ȳ)|/n down to ratio·λ_max. All 0 for a constant target."""
        largest = float(np.abs(self.z.T @ (y - y.mean())).max()) / len(y)
        return largest * np.geomspace(1.0, ratio, count)

    def path(self, y: Floats, lambdas: Floats) -> tuple[Floats, Floats]:
        """(weights (d, L), biases (L,)) in mask coding, one column per λ of a decreasing path."""
        from sklearn.linear_model import lasso_path  # Slow to import.

        centred = y - y.mean()
        if not lambdas.any():
            return np.zeros((self.z.shape[1], len(lambdas))), np.full(len(lambdas), y.mean())
        _, coefficients, _ = lasso_path(
            self.z, centred, alphas=lambdas, precompute=self.gram, Xy=self.z.T @ centred, max_iter=10_000, tol=1e-6
        )
        weights = coefficients * self.inverse_scale[:, None]
        return weights, y.mean() - self.mean @ weights


def _check(
    masks: PackedMasks, margins: NDArray[np.floating[Any]], n_lambdas: int, ratio: float, validation: int
) -> None:
    n = masks.n_models
    if margins.ndim != 2 or len(margins) != n:
        raise ValueError(f"`margins` must have shape ({n}, n_targets), one row per mask, but it is {margins.shape}.")
    if not np.isfinite(margins).all():
        raise ValueError("`margins` must be finite, but it holds NaN or infinity.")
    if n_lambdas < 1:
        raise ValueError(f"`n_lambdas` must be at least 1, but it is {n_lambdas}.")
    if not 0.0 < ratio <= 1.0:
        raise ValueError(f"`lambda_ratio` must lie in (0, 1], but it is {ratio}.")
    if not 1 <= validation <= n - 2:
        raise ValueError(f"`validation_rows` must lie between 1 and {n - 2}, but it is {validation}.")
    needed = 8 * (3 * n * masks.n_train + 2 * masks.n_train**2)  # Design, its standardised copies, two Gram matrices.
    if needed > MAX_DENSE_BYTES:
        raise ValueError(
            f"`masks` of {n} × {masks.n_train} would need {needed / 2**30:.0f} GiB as a dense design, "
            f"more than the {MAX_DENSE_BYTES / 2**30:.0f} GiB of this solver: fit fewer rows, or load fitted weights."
        )
