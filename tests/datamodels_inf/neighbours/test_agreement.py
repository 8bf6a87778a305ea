"""How far two sets of tests agree."""

import numpy as np

from datamodels_inf.neighbours.agreement import agreement


def test_agreement_leaves_out_what_is_unknown():
    nan = float("nan")
    once, again = np.array([1.0, -1.0, nan, 2.0]), np.array([0.5, 1.0, 1.0, nan])
    found = agreement(once, np.full(4, 0.5), again, np.full(4, 0.1))
    assert (found.n, found.same_sign) == (2, 0.5)
    assert np.isnan(found.pvalues)
    assert agreement(once[2:3], np.ones(1), again[2:3], np.ones(1)).n == 0
