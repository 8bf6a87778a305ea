"""CORRECTIONS: everything that is to be known of a correction for many tests, in one entry of one table.

p-values are adjusted by statsmodels where it has the correction. A new one is its functions and an entry
(docs/adding.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from datamodels_inf.internal.checks import Floats, as_array, check_choice, check_fraction, check_integer

Controls: TypeAlias = Literal["FDR", "FWER"]

STEP_UP = "The findings are the p-values up to the last one on or under the solid line"
STEP_DOWN = "The findings are the p-values before the first one above the solid line"
SINGLE_STEP = "The findings are the p-values on or under the solid line"


@dataclass(frozen=True)
class Correction:
    """One correction for m tests at level α.

    controls: the false discovery rate, or the chance of any false discovery. dependence: when it does.
    adjust(p, m): adjusted p-values, of which those ≤ α are findings; hypotheses beyond `p` have p = 1.
    critical(α, m, k): what the k-th smallest p-value is held against. steps: "up", the findings are the p-values up to
    the last on or under it; "down", those before the first above it. rule: the same in words.
    selected(α, m, R): p*; intervals at level 1 − p* make up for the selection of R findings (`selected_confidence`).
    selected_formula: 1 − p* in words. selected_condition: when these intervals keep their promise, empty for always.
    """

    name: str
    title: str
    controls: Controls
    dependence: str
    adjust: Callable[[Floats, int], Floats]
    critical: Callable[[float, int, Floats], Floats]
    steps: Literal["up", "down"]
    rule: str
    selected: Callable[[float, int, int], float]
    selected_formula: str
    selected_condition: str = ""


def harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n."""
    return float(digamma(n + 1) + np.euler_gamma)


def _by_statsmodels(name: str, factor: Callable[[int], float]) -> Callable[[Floats, int], Floats]:
    """statsmodels' adjustment, which is proportional to `factor` of the size of the family."""

    def adjust(p: Floats, family: int) -> Floats:
        from statsmodels.stats.multitest import multipletests  # Slow to import.

        larger = factor(family) / factor(p.size)
        return np.asarray(np.minimum(1.0, larger * multipletests(p, method=name)[1]))

    return adjust


def _holm(p: Floats, family: int) -> Floats:
    """max over the smaller ones of p_(k)·(m − k + 1)."""
    order = np.argsort(p)
    steps = p[order] * (family - np.arange(p.size))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


CORRECTIONS: dict[str, Correction] = {
    correction.name: correction
    for correction in (
        Correction(
            "by",
            "Benjamini–Yekutieli",
            "FDR",
            "however the tests depend on each other",
            _by_statsmodels("fdr_by", lambda m: m * harmonic(m)),
            lambda alpha, m, k: np.asarray(alpha * k / (m * harmonic(m))),
            "up",
            STEP_UP,
            lambda alpha, m, found: alpha * (found / m) / harmonic(m),
            "1 − α·R/(m·H_m) for R findings among m tests, H_m = 1 + ½ + … + 1/m",
        ),
        Correction(
            "bh",
            "Benjamini–Hochberg",
            "FDR",
            "for independent or positively dependent tests",
            _by_statsmodels("fdr_bh", float),
            lambda alpha, m, k: np.asarray(alpha * k / m),
            "up",
            STEP_UP,
            lambda alpha, m, found: alpha * found / m,
            "1 − α·R/m for R findings among m tests",
            "if the tests are independent",
        ),
        Correction(
            "holm",
            "Holm",
            "FWER",
            "however the tests depend on each other",
            _holm,
            lambda alpha, m, k: np.asarray(alpha / (m - k + 1.0)),
            "down",
            STEP_DOWN,
            lambda alpha, m, found: alpha * (1.0 / m),
            "1 − α/m for each of m tests",
        ),
        Correction(
            "bonferroni",
            "Bonferroni",
            "FWER",
            "however the tests depend on each other",
            _by_statsmodels("bonferroni", float),
            lambda alpha, m, k: np.full(np.shape(k), alpha / m),
            "up",
            SINGLE_STEP,
            lambda alpha, m, found: alpha * (1.0 / m),
            "1 − α/m for each of m tests",
        ),
    )
}


def adjust_pvalues(p: ArrayLike, method: str = "by", *, n_hypotheses: int | None = None) -> Floats:
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
        adjusted[tested] = CORRECTIONS[method].adjust(values[tested], family)
    return adjusted


def selected_confidence(correction: str, alpha: float, n_tests: int, n_found: int) -> float:
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
    return 1.0 - CORRECTIONS[correction].selected(alpha, n_tests, n_found)


def critical_values(correction: str, alpha: float, m: int) -> Floats:
    """What the k-th smallest of m p-values is held against, k = 1..m.

    "by": α·k/(m·H_m), "bh": α·k/m, "holm": α/(m − k + 1), "bonferroni": α/m.
    """
    check_choice("correction", correction, tuple(CORRECTIONS))
    return CORRECTIONS[correction].critical(alpha, m, np.arange(1.0, m + 1.0))


def threshold(correction: str, alpha: float, m: int, found: int) -> float:
    """With `found` findings among m tests: the findings are just the tests with p ≤ this.

    With none, what the smallest p-value would have had to be.
    """
    check_choice("correction", correction, tuple(CORRECTIONS))
    return float(CORRECTIONS[correction].critical(alpha, m, np.array([max(found, 1.0)]))[0])
