"""Corrections for many tests at once, thin over statsmodels."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from datamodels_inf.checks import Floats, as_array, check_choice, check_integer

Method: TypeAlias = Literal["by", "bh", "holm", "bonferroni"]
CORRECTIONS = {"by": "Benjamini–Yekutieli", "bh": "Benjamini–Hochberg", "holm": "Holm", "bonferroni": "Bonferroni"}
_STATSMODELS_NAME = {"by": "fdr_by", "bh": "fdr_bh", "bonferroni": "bonferroni"}


def adjust_pvalues(p: ArrayLike, method: Method = "by", *, n_hypotheses: int | None = None) -> Floats:
    """Adjusted p-values: rejecting those ≤ α controls the false discovery rate ("by", "bh") or the chance of any false
    discovery ("holm", "bonferroni") at α.

    "by" (Benjamini–Yekutieli) holds under any dependence between the tests; the pairs of one target share their
    residuals, so it is the default. A NaN marks a test that was not made: it stays NaN and is not counted, unless
    `n_hypotheses`, the size of the family, says that there are more hypotheses than p-values; the missing ones then
    count as p = 1. By default the family is the p-values that are not NaN.

    >>> adjust_pvalues([0.01, float("nan"), 0.04], "bonferroni")
    array([0.02,  nan, 0.08])
    """
    check_choice("method", method, tuple(CORRECTIONS))
    values = as_array("p", p).astype(np.float64) if np.size(p) else np.empty(0)
    if values.ndim != 1:
        raise ValueError(f"`p` must be a vector of p-values, but its shape is {values.shape}.")
    tested = ~np.isnan(values)
    if ((values[tested] < 0.0) | (values[tested] > 1.0)).any():
        raise ValueError("`p` must lie between 0 and 1, or be NaN for a test that was not made.")
    count = int(tested.sum())
    family = count if n_hypotheses is None else check_integer("n_hypotheses", n_hypotheses, 0)
    if family < count:
        raise ValueError(f"`n_hypotheses` must be at least the {count} p-values given, but it is {family}.")
    adjusted = np.full(values.shape, np.nan)
    if count:
        adjusted[tested] = _adjust(values[tested], method, family)
    return adjusted


def _adjust(p: Floats, method: Method, family: int) -> Floats:
    """Adjusted p-values of a family in which the hypotheses beyond `p` have p = 1, without writing these out."""
    if method == "holm":
        order = np.argsort(p)
        steps = p[order] * (family - np.arange(p.size))
        adjusted = np.empty_like(p)
        adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
        return adjusted
    from statsmodels.stats.multitest import multipletests  # Slow to import.

    # All three are proportional to the size of the family, "by" also to its harmonic number.
    factor = family / p.size * (_harmonic(family) / _harmonic(p.size) if method == "by" else 1.0)
    return np.asarray(np.minimum(1.0, factor * multipletests(p, method=_STATSMODELS_NAME[method])[1]))


def _harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n."""
    return float(digamma(n + 1) + np.euler_gamma)
