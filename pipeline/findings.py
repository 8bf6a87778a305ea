"""What a finding is: decided, ordered, numbered and given its interval here, for every command and every stage.

The tests of one method are a family. A finding is a test whose p-value, adjusted over its family by `test.correction`,
is at most `test.alpha`. Findings are numbered from 1 within their method: by p-value, then the larger effect first,
then by target, i and j; what is not known comes last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import effect_interval
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.many_pvalues import find_among_many
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues, selected_confidence
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.config import Test

MARGINAL = 0.95
"""The level of every test's own interval, which holds for a pair named in advance."""


@dataclass(frozen=True, eq=False)
class Family:
    """The p-values of one method's tests, NaN for tests that were not made, and what `[test]` says about findings.

    prior: weights of these tests and the shape, where `test.correction` needs them, and else None.
    """

    pvalue: Floats
    test: Test
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


def counts_by_correction(pvalue: Floats, test: Test, prior: Prior | None) -> dict[str, int | None]:
    """How many findings each of CORRECTIONS has at `test.alpha`; None for one that needs a prior which is not known."""
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
    """The places of tests in the order in which they are numbered and shown."""
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


def error_rate(test: Test, n_tests: int | None = None) -> str:
    """What is promised of findings: "at a false discovery rate of 0.2 (Benjamini–Yekutieli over 2 tests)".

    n_tests: the size of the family, where the sentence does not name it.
    """
    correction = CORRECTIONS[test.correction]
    rate = "false discovery rate" if correction.controls == "FDR" else "family-wise error"
    over = "" if n_tests is None else f" over {n_tests:,} test{'' if n_tests == 1 else 's'}"
    return f"at a {rate} of {test.alpha:g} ({correction.title}{over})"


def coverage(test: Test, what: str) -> str:
    """What is promised of the findings' own intervals, of `what` they are for."""
    correction = CORRECTIONS[test.correction]
    rate = correction.controls == "FDR"
    share = "the expected share of findings whose interval misses" if rate else "the chance that any interval misses"
    return f"{share} the {what} is at most {test.alpha:g}, {correction.dependence}"


def level_text(level: float) -> str:
    """A level with as many nines as it has.

    >>> level_text(0.95), level_text(0.9933), level_text(0.9999137)
    ('95 %', '99.3 %', '99.991 %')
    """
    rest = 100.0 * (1.0 - level)
    return f"{100.0 * level:.{max(0, -math.floor(math.log10(rest) + 1e-9)) if rest > 0.0 else 0}f} %"


def level_range_text(low: float, high: float) -> str:
    """Two levels with as many digits as tell them apart; one where they are the same.

    >>> level_range_text(0.9794, 0.9845), level_range_text(0.95, 0.95)
    ('97.9 % to 98.5 %', '95 %')
    """
    if low == high:
        return level_text(low)
    for digits in range(9):
        ends = [f"{100.0 * level:.{digits}f}" for level in (low, high)]
        if ends[0] != ends[1] and digits >= len(level_text(high).partition(".")[2].rstrip(" %")):
            break
    return " % to ".join(ends) + " %"


def one_of(n_found: int) -> str:
    """What the longer interval belongs to: "one of 39 findings"."""
    return "the only finding" if n_found == 1 else f"one of {n_found} findings"
