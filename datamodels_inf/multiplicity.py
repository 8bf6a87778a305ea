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

from datamodels_inf.closed_by import closed_by_adjusted
from datamodels_inf.internal.checks import Floats, as_array, check_choice, check_fraction, check_integer
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape, harmonic

Controls: TypeAlias = Literal["FDR", "FWER"]

Steps: TypeAlias = Literal["up", "down", "closed"]

STEP_UP = "The findings are the p-values up to the last one on or under the solid line"
STEP_DOWN = "The findings are the p-values before the first one above the solid line"
SINGLE_STEP = "The findings are the p-values on or under the solid line"
WEIGHTED = "The findings are the p-values, each divided by its weight, up to the last one on or under the solid line"
BY_LEVEL = "1 − α·R/(m·H_m) for R findings among m tests, H_m = 1 + ½ + … + 1/m"
CLOSED = (
    "The p-values up to the last one on or under the solid line are findings, and closed testing may add some after it"
)


@dataclass(frozen=True)
class Setting:
    """What a correction is asked for: level α, m tests; shape: β, for a correction that needs a prior, else None."""

    alpha: float
    m: int
    shape: Shape | None = None

    def beta(self, k: ArrayLike) -> Floats:
        """β(k)."""
        if self.shape is None:
            raise ValueError("`prior` must be given: the correction needs its weights and shape.")
        return self.shape.beta(k)


@dataclass(frozen=True)
class Correction:
    """One correction for m tests at level α (`Setting`). With a prior, "p-value" is p/w in all of it.

    controls: the false discovery rate, or the chance of any false discovery. dependence: when it does.
    adjust(p, setting): adjusted p-values, of which those ≤ α are findings; hypotheses beyond `p` have p = 1.
    critical(setting, k): what the k-th smallest p-value is held against. steps: "up", the findings are the p-values up
    to the last on or under it; "down", those before the first above it; "closed", those of "up", and maybe more. rule:
    the same in words.
    selected(setting, R): p*; intervals at level 1 − p* make up for the selection of R findings (`selected_confidence`).
    selected_formula: 1 − p* in words. selected_condition: when these intervals keep their promise, empty for always.
    line: whose line it is that `critical` gives, if it is another's. needs_prior: whether it asks for a `Prior`.
    """

    name: str
    title: str
    controls: Controls
    dependence: str
    adjust: Callable[[Floats, Setting], Floats]
    critical: Callable[[Setting, Floats], Floats]
    steps: Steps
    rule: str
    selected: Callable[[Setting, int], float]
    selected_formula: str
    selected_condition: str = ""
    line: str = ""
    needs_prior: bool = False


def _by_statsmodels(name: str, factor: Callable[[int], float]) -> Callable[[Floats, Setting], Floats]:
    """statsmodels' adjustment, which is proportional to `factor` of the size of the family."""

    def adjust(p: Floats, setting: Setting) -> Floats:
        from statsmodels.stats.multitest import multipletests  # Slow to import.

        larger = factor(setting.m) / factor(p.size)
        return np.asarray(np.minimum(1.0, larger * multipletests(p, method=name)[1]))

    return adjust


def _holm(p: Floats, setting: Setting) -> Floats:
    """max over the smaller ones of p_(k)·(m − k + 1)."""
    order = np.argsort(p)
    steps = p[order] * (setting.m - np.arange(p.size))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _closed_by(p: Floats, setting: Setting) -> Floats:
    """The smallest of some levels at which a test is a finding (`closed_by_adjusted`)."""
    return closed_by_adjusted(p, setting.m, setting.alpha, _benjamini_yekutieli(p, setting))


def _step_up(p: Floats, setting: Setting) -> Floats:
    """min over the larger ones of m·p_(k)/β(k), which is 0 for p = 0."""
    order = np.argsort(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = setting.m * p[order] / setting.beta(np.arange(1, p.size + 1))
    steps[p[order] == 0.0] = 0.0
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1])
    return adjusted


_benjamini_yekutieli = _by_statsmodels("fdr_by", lambda m: m * harmonic(m))


def _by_critical(setting: Setting, k: Floats) -> Floats:
    return np.asarray(setting.alpha * k / (setting.m * harmonic(setting.m)))


def _by_selected(setting: Setting, found: int) -> float:
    return setting.alpha * (found / setting.m) / harmonic(setting.m)


def _share(setting: Setting, found: int) -> float:
    return setting.alpha * (1.0 / setting.m)


CORRECTIONS: dict[str, Correction] = {
    correction.name: correction
    for correction in (
        Correction(
            "by",
            "Benjamini–Yekutieli",
            "FDR",
            "however the tests depend on each other",
            _benjamini_yekutieli,
            _by_critical,
            "up",
            STEP_UP,
            _by_selected,
            BY_LEVEL,
        ),
        Correction(
            "bh",
            "Benjamini–Hochberg",
            "FDR",
            "for independent or positively dependent tests",
            _by_statsmodels("fdr_bh", float),
            lambda setting, k: np.asarray(setting.alpha * k / setting.m),
            "up",
            STEP_UP,
            lambda setting, found: setting.alpha * found / setting.m,
            "1 − α·R/m for R findings among m tests",
            "if the tests are independent",
        ),
        Correction(
            "holm",
            "Holm",
            "FWER",
            "however the tests depend on each other",
            _holm,
            lambda setting, k: np.asarray(setting.alpha / (setting.m - k + 1.0)),
            "down",
            STEP_DOWN,
            _share,
            "1 − α/m for each of m tests",
        ),
        Correction(
            "bonferroni",
            "Bonferroni",
            "FWER",
            "however the tests depend on each other",
            _by_statsmodels("bonferroni", float),
            lambda setting, k: np.full(np.shape(k), setting.alpha / setting.m),
            "up",
            SINGLE_STEP,
            _share,
            "1 − α/m for each of m tests",
        ),
        Correction(
            "closed-by",
            "closed Benjamini–Yekutieli",
            "FDR",
            "however the tests depend on each other",
            _closed_by,
            _by_critical,
            "closed",
            CLOSED,
            _by_selected,
            BY_LEVEL,
            line="Benjamini–Yekutieli",
        ),
        Correction(
            "prior",
            "weighted step-up with a prior",
            "FDR",
            "however the tests depend on each other",
            _step_up,
            lambda setting, k: np.asarray(setting.alpha * setting.beta(k) / setting.m),
            "up",
            WEIGHTED,
            lambda setting, found: float(setting.alpha * setting.beta(found) / setting.m),
            "1 − α·w·β(R)/m for a finding of weight w, one of R among m tests",
            needs_prior=True,
        ),
    )
}


def asked(correction: str, alpha: float, m: int, shape: Shape | None) -> tuple[Correction, Setting]:
    """The entry of the table and what it is asked for, or a sentence that says what is missing or does not fit."""
    rule = CORRECTIONS[check_choice("correction", correction, tuple(CORRECTIONS))]
    if rule.needs_prior != (shape is not None):
        wanted = "must be given for" if shape is None else "is not for"
        raise ValueError(f"A prior, or its shape, {wanted} the correction {correction!r}.")
    if shape is not None and shape.m != m:
        raise ValueError(f"`shape` is for {shape.m} tests, but the family has {m}.")
    return rule, Setting(check_fraction("alpha", alpha), m, shape)


def adjust_pvalues(
    p: ArrayLike, method: str = "by", *, n_hypotheses: int | None = None, alpha: float = 0.2, prior: Prior | None = None
) -> Floats:
    """Adjusted p-values: rejecting those ≤ α controls the false discovery rate ("by", "bh", "closed-by", "prior") or
    the chance of any false discovery ("holm", "bonferroni") at α.

    "by" (Benjamini–Yekutieli) holds under any dependence between the tests; the pairs of one target share their
    residuals, so it is the default. A NaN marks a test that was not made: it stays NaN and is not counted, unless
    `n_hypotheses`, the size of the family, says that there are more hypotheses than p-values; the missing ones then
    count as p = 1. By default the family is the p-values that are not NaN.

    "closed-by" and "prior" hold under any dependence too. "closed-by" finds all that "by" finds, and often more. Its
    adjusted p-values are rounded up to certain levels. `alpha`, the level that is to be used, is one of them: those ≤
    `alpha` are just what is found at it. "prior" needs `prior`, made without the tested rows, for as many tests as the
    family has.

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
    rule, setting = asked(method, alpha, family, None if prior is None else prior.shape)
    scaled = values if prior is None else prior.scaled(values)
    adjusted = np.full(values.shape, np.nan)
    if count:
        adjusted[tested] = rule.adjust(scaled[tested], setting)
    return adjusted


def selected_confidence(
    correction: str, alpha: float, n_tests: int, n_found: int, *, shape: Shape | None = None
) -> float:
    """The level of the intervals of `n_found` findings among `n_tests` tests, 1 − p*, that makes up for the selection.

    "by": p* = α·R/(m·H_m), H_m = 1 + ½ + … + 1/m, and "bh": p* = α·R/m, R findings among m tests. The false coverage
    rate is then at most α: the expected share of findings whose interval misses the true effect (0 where nothing is
    found). "by" holds however the tests depend on each other and whatever picked the R, so it is that of "closed-by"
    too, "bh" for independent tests (Benjamini & Yekutieli 2005, JASA 100:71-81). "prior": p* = α·β(R)/m for a finding
    of weight 1; `Prior.confidence` gives those of the others, and why it holds. "holm", "bonferroni": p* = α/m, and the
    chance that the interval of any test misses is at most α.

    Seven findings among 2000 tests need 99.99 % where a pair named in advance needs 95 %:

    >>> round(selected_confidence("by", 0.2, 2000, 7), 6)
    0.999914
    """
    check_integer("n_found", n_found, 1)
    if check_integer("n_tests", n_tests, 1) < n_found:
        raise ValueError(f"`n_tests` must be at least the {n_found} findings, but it is {n_tests}.")
    rule, setting = asked(correction, alpha, n_tests, shape)
    return 1.0 - rule.selected(setting, n_found)


def critical_values(correction: str, alpha: float, m: int, *, shape: Shape | None = None) -> Floats:
    """What the k-th smallest of m p-values is held against, k = 1..m.

    "by": α·k/(m·H_m), "bh": α·k/m, "holm": α/(m − k + 1), "bonferroni": α/m, "prior": α·β(k)/m, for p/w. "closed-by":
    as "by", a bound: no p-value under it is left out.

    >>> critical_values("by", 0.2, 4).round(3), critical_values("holm", 0.2, 4).round(3)
    (array([0.024, 0.048, 0.072, 0.096]), array([0.05 , 0.067, 0.1  , 0.2  ]))
    """
    rule, setting = asked(correction, alpha, m, shape)
    return rule.critical(setting, np.arange(1.0, m + 1.0))


def threshold(
    correction: str, alpha: float, m: int, found: int, *, largest: float = 0.0, shape: Shape | None = None
) -> float:
    """With `found` findings among m tests: the findings are just the tests with p ≤ this (p/w with a prior).

    With none, what the smallest p-value would have had to be. largest: the largest p-value of a finding, which
    "closed-by" asks for: its findings may lie above their critical value.

    >>> threshold("bh", 0.2, 4, found=2), threshold("bh", 0.2, 4, found=0)
    (0.1, 0.05)
    """
    rule, setting = asked(correction, alpha, m, shape)
    critical = float(rule.critical(setting, np.array([max(found, 1.0)]))[0])
    return max(critical, largest) if rule.steps == "closed" else critical
