"""What held-out models say of claims: confirmed, reversed, or unproven.

A claim i ≻ j is tested by the contrast of i and j, two-sided. The claims of one method are one family, whose p-values
are corrected together; a claim is found where the adjusted p-value is at most α. It is *confirmed* if the effect is in
the claimed direction and *reversed* if in the other, so that at most a share α of what is found is expected to be
wrong, in direction too. Else it is *unproven*, which says as much about the number of models as about the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import ContrastResults
from datamodels_inf.internal.checks import Floats
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues

Signs: TypeAlias = NDArray[np.int8]

CONFIRMED, UNPROVEN, REVERSED, UNTESTED = "confirmed", "unproven", "reversed", "untested"
VERDICTS = (CONFIRMED, UNPROVEN, REVERSED, UNTESTED)
WITHOUT_PRIOR = tuple(name for name, correction in CORRECTIONS.items() if not correction.needs_prior)
"""Corrections that a family of claims can have."""


@dataclass(frozen=True, eq=False)
class Ruling:
    """Of one method, an entry for each pair: adjusted p-values (NaN where it claims nothing, or was not tested), and
    the verdict as 1 (confirmed), −1 (reversed), 0 (unproven, untested, or no claim)."""

    adjusted: Floats
    verdict: Signs
    claimed: NDArray[np.bool_]

    @property
    def found(self) -> NDArray[np.bool_]:
        """Where the models decide a claim."""
        return np.asarray(self.verdict != 0)

    def counts(self) -> Mapping[str, int]:
        """Verdict → number of claims."""
        tested = self.claimed & ~np.isnan(self.adjusted)
        return {
            CONFIRMED: int((self.verdict == 1).sum()),
            UNPROVEN: int((tested & (self.verdict == 0)).sum()),
            REVERSED: int((self.verdict == -1).sum()),
            UNTESTED: int((self.claimed & ~tested).sum()),
        }


def directions(contrasts: ContrastResults, higher_is_better: bool = True) -> Signs:
    """1 where the models say i ≻ j, −1 for j ≻ i: the sign of the effect on the outcome, turned if less is better.

    0 where the mean difference and the rank sum that is tested have different signs: then no direction is claimed.
    """
    mean, ranks = np.sign(np.nan_to_num(contrasts.estimate)), np.sign(contrasts.rank_sum)
    agreed = np.where(mean == ranks, mean, 0.0)
    return (agreed if higher_is_better else -agreed).astype(np.int8)


def rule(claim: Signs, pvalue: Floats, direction: Signs, *, alpha: float = 0.1, correction: str = "by") -> Ruling:
    """The verdicts on one method's claims (1: i ≻ j, −1: j ≻ i, 0: none), which are the family.

    Examples
    --------
    Four claims, of which the models decide two, one of them against the method; the last pair it says nothing of.

    >>> ruling = rule(np.array([1, -1, 1, 1, 0]), np.array([1e-9, 1e-9, 0.4, 0.9, 1e-9]), np.array([1, 1, 1, -1, 1]))
    >>> ruling.verdict.tolist()
    [1, -1, 0, 0, 0]
    """
    if correction not in WITHOUT_PRIOR:
        raise ValueError(f"`correction` must be one of {', '.join(WITHOUT_PRIOR)}, but it is {correction!r}.")
    claimed = np.asarray(claim != 0)
    adjusted = np.full(len(claimed), np.nan)
    adjusted[claimed] = adjust_pvalues(pvalue[claimed], correction, alpha=alpha)
    with np.errstate(invalid="ignore"):
        found = adjusted <= alpha
    return Ruling(adjusted, np.where(found, claim * direction, 0).astype(np.int8), claimed)
