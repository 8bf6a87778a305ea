"""What a finding is: decided, ordered, numbered and given its interval here, for every command, stage and notebook.

The tests of one method are a family. A finding is a test whose p-value, adjusted over its family by a correction, is at
most α. Findings are numbered from 1 within their method: by p-value, then the larger effect first, then by target, i
and j; what is not known comes last.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import effect_interval
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.many_pvalues import find_among_many
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues, selected_confidence
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape

MARGINAL = 0.95
"""The level of every test's own interval, which holds for a pair named in advance."""


class Rule(Protocol):
    """When an adjusted p-value is a finding: `alpha`, and the name of one of CORRECTIONS. `[test]` is one."""

    @property
    def alpha(self) -> float:
        """The level."""

    @property
    def correction(self) -> str:
        """Which adjustment."""


@dataclass(frozen=True, eq=False)
class Family:
    """The p-values of one method's tests, NaN for tests that were not made, and the rule that decides about findings.

    prior: weights of these tests and the shape, where the correction needs them, and else None.
    """

    pvalue: Floats
    test: Rule
    prior: Prior | None = None

    @cached_property
    def adjusted(self) -> Floats:
        """The p-values, adjusted for one another; NaN stays NaN."""
        test = self.test
        return adjust_pvalues(
            self.pvalue, test.correction, n_hypotheses=self.n_tests, alpha=test.alpha, prior=self.prior
        )

    @property
    def n_tests(self) -> int:
        """The size of the family: the tests that were made, or those that the prior was made for."""
        return family_size(self.pvalue, self.prior)

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Which tests are findings."""
        return np.asarray(self.adjusted <= self.test.alpha)

    @property
    def n_found(self) -> int:
        """How many findings there are."""
        return int(np.count_nonzero(self.found))

    @cached_property
    def levels(self) -> Floats:
        """Of each test that of its interval, should it be a finding; NaN where nothing was found."""
        if not self.n_found:
            return np.full(self.pvalue.shape, np.nan)
        shape = None if self.prior is None else self.prior.shape
        level = selected_confidence(self.test.correction, self.test.alpha, self.n_tests, self.n_found, shape=shape)
        own = np.full(self.pvalue.shape, level) if self.prior is None else self.prior.confidence(level)
        return np.maximum(MARGINAL, own)

    @property
    def level_range(self) -> tuple[float, float]:
        """The smallest and the largest level of the findings' own intervals; NaN where nothing was found."""
        if not self.n_found:
            return math.nan, math.nan
        levels = self.levels[self.found]
        return float(levels.min()), float(levels.max())

    def selected_intervals(self, tests: Ints, effect: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
        """(low, high) of findings, `tests`, which make up for the selection, from their effects and standard errors."""
        return effect_interval(effect, error, freedom, self.levels[tests])


def family_size(pvalue: Floats, prior: Prior | None) -> int:
    """m: the tests that were made, which have a p-value, or those that the prior was made for."""
    return int(np.count_nonzero(~np.isnan(pvalue))) if prior is None else prior.shape.m


def counts_by_correction(pvalue: Floats, test: Rule, prior: Prior | None) -> dict[str, int | None]:
    """How many findings each of CORRECTIONS has at `test.alpha`; None for one that needs a prior which is not known.

    >>> class AtTwentyPercent:
    ...     alpha, correction = 0.2, "by"
    >>> counts_by_correction(np.array([0.001, 0.02, 0.09, np.nan]), AtTwentyPercent(), None)
    {'by': 3, 'bh': 3, 'holm': 3, 'bonferroni': 2, 'closed-by': 3, 'prior': None}
    """
    counts: dict[str, int | None] = {}
    for name, correction in CORRECTIONS.items():
        own = prior if correction.needs_prior else None
        if correction.needs_prior and own is None:
            counts[name] = None
            continue
        scaled = pvalue if own is None else own.scaled(pvalue)
        known, m = scaled[scaled <= 1.0], family_size(pvalue, own)  # Not NaN; above 1 nothing is a finding.
        shape = None if own is None else own.shape
        counts[name] = _count(known, m, name, test.alpha, shape) if m else 0
    return counts


def _count(pvalue: Floats, m: int, correction: str, alpha: float, shape: Shape | None) -> int:
    return find_among_many(lambda: [pvalue], m, correction=correction, alpha=alpha, shape=shape).found


def finding_order(pvalue: Floats, effect: Floats, target: Ints, i: Ints, j: Ints) -> Ints:
    """The places of tests in the order in which they are numbered and shown.

    >>> pvalue, effect, same = np.array([0.2, 0.01, 0.01, np.nan]), np.array([9.0, 1.0, -2.0, 5.0]), np.zeros(4, int)
    >>> finding_order(pvalue, effect, same, same, same).tolist()
    [2, 1, 0, 3]
    """
    size = np.where(np.isnan(effect), -1.0, np.abs(effect))
    return np.lexsort((j, i, target, -size, pvalue))  # NaN sorts last.


def finding_level(correction: str, alpha: float, n_tests: int, n_found: int, *, shape: Shape | None = None) -> float:
    """That of `selected_confidence`, but never below MARGINAL: being found makes no interval shorter.

    n_tests counts the tests that were made. NaN where nothing was found. With the `shape` of a prior, that of a finding
    of weight 1.

    >>> finding_level("bh", 0.2, 10, 9)
    0.95
    """
    if not n_found:
        return math.nan
    return max(MARGINAL, selected_confidence(correction, alpha, n_tests, n_found, shape=shape))


def decide(
    table: Mapping[str, NDArray[Any]],
    rule: Rule,
    *,
    n_rows: Mapping[str, int],
    priors: Mapping[str, Prior] | None = None,
) -> dict[str, NDArray[Any]]:
    """A table of tests with what the correction makes of them: each method is a family.

    `table` has the columns method, pvalue, effect, effect_se and effect_df. Added are pvalue_adjusted, finding, the
    ends of the findings' longer intervals, effect_low_selected and effect_high_selected, the weight that a prior gives
    (else 1), and n_rows, the models that tested the pair: `n_rows` has them by method.

    >>> class AtTenPercent:
    ...     alpha, correction = 0.1, "bonferroni"
    >>> effects = {"effect": np.ones(3), "effect_se": np.full(3, 0.1), "effect_df": np.full(3, 50.0)}
    >>> table = {"method": np.repeat("swap", 3), "pvalue": np.array([0.01, np.nan, 0.2]), **effects}
    >>> decide(table, AtTenPercent(), n_rows={"swap": 100})["finding"]
    array([ True, False, False])
    """
    methods, p = table["method"], table["pvalue"]
    added = {
        "pvalue_adjusted": np.full(len(p), np.nan),
        "finding": np.zeros(len(p), np.bool_),
        "effect_low_selected": np.full(len(p), np.nan),
        "effect_high_selected": np.full(len(p), np.nan),
        "weight": np.ones(len(p)),
        "n_rows": np.zeros(len(p), np.int64),
    }
    for method, count in n_rows.items():
        own = np.flatnonzero(methods == method)
        family = Family(p[own], rule, (priors or {}).get(method))
        found = np.flatnonzero(family.found)
        effects = (table[name][own[found]] for name in ("effect", "effect_se", "effect_df"))
        for name, values in decided(family, *effects, n_rows=count).items():
            added[name][own] = values
    return {**table, **added}


def decided(family: Family, effect: Floats, error: Floats, freedom: Floats, *, n_rows: int) -> dict[str, NDArray[Any]]:
    """What the correction makes of the tests of one method: the columns that `decide` adds.

    effect, error, freedom: of the findings alone, in the order of the tests. n_rows: the models that tested each pair.
    """
    low, high = np.full((2, len(family.pvalue)), np.nan)
    found = np.flatnonzero(family.found)
    low[found], high[found] = family.selected_intervals(found, effect, error, freedom)
    return {
        "pvalue_adjusted": family.adjusted,
        "finding": family.found,
        "effect_low_selected": low,
        "effect_high_selected": high,
        "weight": np.ones(len(low)) if family.prior is None else family.prior.weight,
        "n_rows": np.where(np.isnan(family.pvalue), 0, n_rows),
    }


def error_rate(test: Rule, n_tests: int | None = None) -> str:
    """What is promised of findings: "at a false discovery rate of 0.2 (Benjamini–Yekutieli over 2 tests)".

    n_tests: the size of the family, where the sentence does not name it.
    """
    correction = CORRECTIONS[test.correction]
    rate = "false discovery rate" if correction.controls == "FDR" else "family-wise error"
    over = "" if n_tests is None else f" over {n_tests:,} test{'' if n_tests == 1 else 's'}"
    return f"at a {rate} of {test.alpha:g} ({correction.title}{over})"


def one_of(n_found: int) -> str:
    """What the longer interval belongs to: "one of 39 findings"."""
    return "the only finding" if n_found == 1 else f"one of {n_found:,} findings"
