"""Corrections for many tests at once, thin over statsmodels."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from datamodels_inf.checks import Floats, check_choice

Method: TypeAlias = Literal["by", "bh", "holm", "bonferroni"]
_STATSMODELS_NAME = {"by": "fdr_by", "bh": "fdr_bh", "holm": "holm", "bonferroni": "bonferroni"}


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
    check_choice("method", method, tuple(_STATSMODELS_NAME))
    values = np.asarray(p, np.float64)
    if values.ndim != 1:
        raise ValueError(f"`p` must be a vector of p-values, but its shape is {values.shape}.")
    tested = ~np.isnan(values)
    if ((values[tested] < 0.0) | (values[tested] > 1.0)).any():
        raise ValueError("`p` must lie between 0 and 1, or be NaN for a test that was not made.")
    count = int(tested.sum())
    family = count if n_hypotheses is None else n_hypotheses
    if family < count:
        raise ValueError(f"`n_hypotheses` must be at least the {count} p-values given, but it is {family}.")
    adjusted = np.full(values.shape, np.nan)
    if count:
        from statsmodels.stats.multitest import multipletests  # Slow to import.

        padded = np.concatenate([values[tested], np.ones(family - count)])
        adjusted[tested] = multipletests(padded, method=_STATSMODELS_NAME[method])[1][:count]
    return adjusted
