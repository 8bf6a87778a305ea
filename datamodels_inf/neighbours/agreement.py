"""How far re-runs of a test agree with it: in sign, and in the order of effects and of p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.datamodel import spearman
from datamodels_inf.internal.checks import Floats


@dataclass(frozen=True)
class Agreement:
    """Of n re-runs, each with the test that it repeats.

    same_sign: the share whose effect has the sign of the original's.
    effects, pvalues: Spearman's rank correlation of the effects, and of −log p; NaN where either does not vary.
    """

    n: int
    same_sign: float
    effects: float
    pvalues: float


def agreement(original_effect: Floats, original_pvalue: Floats, effect: Floats, pvalue: Floats) -> Agreement:
    """Entry k of `effect` and `pvalue` is a re-run of entry k of the original's; those without an effect are left out.

    >>> import numpy as np
    >>> once, again = np.array([0.5, 0.2, -0.1]), np.array([0.4, 0.3, 0.1])
    >>> agreement(once, 1 - abs(once), again, 1 - abs(again)).same_sign
    0.6666666666666666
    """
    known = ~(np.isnan(original_effect) | np.isnan(effect))
    if not known.any():
        return Agreement(0, np.nan, np.nan, np.nan)
    before, after = original_effect[known], effect[known]
    return Agreement(
        int(known.sum()),
        float(np.mean(np.sign(before) == np.sign(after))),
        float(spearman(before[:, None], after[:, None])[0]),
        float(spearman(original_pvalue[known, None], pvalue[known, None])[0]),  # −log p has the ranks of −p.
    )
