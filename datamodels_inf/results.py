"""What a test returns: small frozen objects with a statistic, a p-value and the decision at a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints, check_alpha


@dataclass(frozen=True)
class SwapTestResult:
    """One swap test.

    statistic: U, the share of comparisons in which the untouched score is the larger; ½ under symmetric influence.
    pvalue: valid for H0: E[d_TV(p(Y|X), p(Y|X_swap(i,j)))] ≤ τ.
    n: samples used. n_ties: comparisons in which both scores were equal.
    """

    statistic: float
    pvalue: float
    n: int
    n_ties: int

    def reject(self, alpha: float) -> bool:
        """Whether H0 is rejected at level `alpha`: p ≤ α."""
        return self.pvalue <= check_alpha(alpha)


@dataclass(frozen=True)
class SwapTestResults:
    """Many swap tests on the same n samples: the fields of `SwapTestResult` as arrays, one entry per pair.

    >>> results = SwapTestResults(np.array([0.62, 0.51]), np.array([0.001, 0.9]), 1000, np.array([0, 3]))
    >>> results.reject(0.05), results[0].pvalue
    (array([ True, False]), 0.001)
    """

    statistic: Floats
    pvalue: Floats
    n: int
    n_ties: Ints

    def __len__(self) -> int:
        return len(self.pvalue)

    def __getitem__(self, index: int) -> SwapTestResult:
        return SwapTestResult(float(self.statistic[index]), float(self.pvalue[index]), self.n, int(self.n_ties[index]))

    def reject(self, alpha: float) -> NDArray[np.bool_]:
        """For each pair, whether H0 is rejected at level `alpha` (before any correction for multiplicity)."""
        return np.asarray(self.pvalue <= check_alpha(alpha))
