"""Corrections for many tests at once, thin over statsmodels."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from datamodels_inf.checks import Floats, as_array, check_choice, check_fraction, check_integer

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


def selected_confidence(correction: Method, alpha: float, n_tests: int, n_found: int) -> float:
    """The level of the intervals of `n_found` findings among `n_tests` tests, 1 − p*, that makes up for the selection.

    "by": p* = α·R/(m·H_m), H_m = 1 + ½ + … + 1/m, and "bh": p* = α·R/m, R findings among m tests. The false coverage
    rate is then at most α: the expected share of findings whose interval misses the true effect (0 where nothing is
    found). "by" holds however the tests depend on each other and whatever picked the R, "bh" for independent tests
    (Benjamini & Yekutieli 2005, JASA 100:71-81). "holm", "bonferroni": p* = α/m, and the chance that the interval of
    any test misses is at most α.

    Seven findings among 2000 tests need 99.99 % where a pair named in advance needs 95 %:

    >>> round(selected_confidence("by", 0.2, 2000, 7), 6)
    0.999914
    """
    check_choice("correction", correction, tuple(CORRECTIONS))
    check_fraction("alpha", alpha)
    check_integer("n_found", n_found, 1)
    if check_integer("n_tests", n_tests, 1) < n_found:
        raise ValueError(f"`n_tests` must be at least the {n_found} findings, but it is {n_tests}.")
    share = n_found / n_tests if correction in ("by", "bh") else 1.0 / n_tests
    return 1.0 - alpha * share / (harmonic(n_tests) if correction == "by" else 1.0)


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
    factor = family / p.size * (harmonic(family) / harmonic(p.size) if method == "by" else 1.0)
    return np.asarray(np.minimum(1.0, factor * multipletests(p, method=_STATSMODELS_NAME[method])[1]))


def harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n."""
    return float(digamma(n + 1) + np.euler_gamma)
