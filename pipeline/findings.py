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
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues, selected_confidence
from pipeline.config import Test

MARGINAL = 0.95
"""The level of every test's own interval, which holds for a pair named in advance."""


@dataclass(frozen=True, eq=False)
class Family:
    """The p-values of one method's tests, NaN for tests that were not made, and what `[test]` says about findings."""

    pvalue: Floats
    test: Test

    @cached_property
    def adjusted(self) -> Floats:
        """The p-values, adjusted for one another; NaN stays NaN."""
        return adjust_pvalues(self.pvalue, self.test.correction)

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Which tests are findings."""
        return np.asarray(self.adjusted <= self.test.alpha)

    @property
    def n_found(self) -> int:
        """How many findings there are."""
        return int(np.count_nonzero(self.found))

    @property
    def level(self) -> float:
        """That of the findings' own intervals; NaN where nothing was found."""
        n_made = int(np.count_nonzero(~np.isnan(self.pvalue)))
        return finding_level(self.test.correction, self.test.alpha, n_made, self.n_found)

    def selected_intervals(self, effect: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
        """(low, high) of findings, which make up for the selection, from their effects and standard errors."""
        return effect_interval(effect, error, freedom, self.level)


def finding_order(pvalue: Floats, effect: Floats, target: Ints, i: Ints, j: Ints) -> Ints:
    """The places of tests in the order in which they are numbered and shown."""
    size = np.where(np.isnan(effect), -1.0, np.abs(effect))
    return np.lexsort((j, i, target, -size, pvalue))  # NaN sorts last.


def finding_level(correction: str, alpha: float, n_tests: int, n_found: int) -> float:
    """That of `selected_confidence`, but never below MARGINAL: being found makes no interval shorter.

    n_tests counts the tests that were made. NaN where nothing was found.

    >>> finding_level("bh", 0.2, 10, 9)
    0.95
    """
    return max(MARGINAL, selected_confidence(correction, alpha, n_tests, n_found)) if n_found else math.nan


def error_rate(test: Test) -> str:
    """What is promised of findings: "at a false discovery rate of 0.2 (Benjamini–Yekutieli)"."""
    correction = CORRECTIONS[test.correction]
    rate = "false discovery rate" if correction.controls == "FDR" else "family-wise error"
    return f"at a {rate} of {test.alpha:g} ({correction.title})"


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


def one_of(n_found: int) -> str:
    """What the longer interval belongs to: "one of 39 findings"."""
    return "the only finding" if n_found == 1 else f"one of {n_found} findings"
