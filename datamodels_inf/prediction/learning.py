"""How much better later datamodels will be, where every model tests: rows to come, counted as rows of the first fit.

Later blocks have residuals of smaller variance. What R² a fit of very many rows would have is known from the first
rows already: image by image Δ̂² is larger than Δ² by SE² on average, and masks that hold a share γ of d images have
var(xᵀθ) = κ·ΣΔ²·(d − 1)/d, so that

    R²_∞ = κ·Σ(Δ̂² − SE²)·(d − 1)/d / var(y),

noisy for one target and good as a mean over several. Between, R²(n) grows with n/(n + LAG·d). A block of n_k rows after
e_k others is then worth n_k·(1 − R²(e_1))/(1 − R²(e_k)) rows. All this is prediction: a wrong one costs findings only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from datamodels_inf.internal.checks import Floats

LAG = 0.7
"""On simulated truths 0.2 (a twentieth of the images matter) to 1.4 (all do, and half of the variance is noise)."""
MOST = 0.95


def r2_of_fit(error: Floats, n: int, kappa: float, variance: Floats) -> float:
    """R² on new rows of the fit that has these standard errors, (targets, d), on n rows; var(y) of each target."""
    noise = np.median(error, axis=1) ** 2 * n * kappa
    return _mean(1.0 - noise / np.where(variance > 0.0, variance, np.inf))


def attainable_r2(estimate: Floats, error: Floats, kappa: float, variance: Floats) -> float:
    """R²_∞, a mean over the targets; estimate, error: (targets, d)."""
    d = estimate.shape[1]
    known = np.isfinite(error)
    signal = kappa * np.where(known, estimate**2 - np.where(known, error, 0.0) ** 2, 0.0).sum(axis=1) * (d - 1.0) / d
    return _mean(signal / np.where(variance > 0.0, variance, np.inf))


def _mean(r2: Floats) -> float:
    return float(np.clip(r2.mean(), 0.0, MOST)) if r2.size and np.isfinite(r2).all() else 0.0


def rows_to_come(ends: Sequence[int], sizes: Sequence[int], first: float, attainable: float, d: int) -> float:
    """Σ_k n_k·(1 − R²(e_1))/(1 − R²(e_k)), for blocks of `sizes` after prefixes that end at `ends`.

    first, attainable: R² of the fit of e_1 rows, and R²_∞.

    >>> round(rows_to_come([240, 2577, 9562], [2337, 6985, 2438], 0.4, 0.7, 400))
    18787
    """
    growth = np.asarray(ends, np.float64) / (np.asarray(ends) + LAG * d)
    share = (growth - growth[0]) / (1.0 - growth[0])
    r2 = first + max(0.0, attainable - first) * share
    return float(np.sum(np.asarray(sizes) * (1.0 - first) / (1.0 - r2)))
