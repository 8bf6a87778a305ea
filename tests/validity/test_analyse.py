"""`analyse` as users call it, with its own fit and its own choice of pairs, keeps its level; with a leak it would not.

The pairs are the strongest by θ̂ of the fit rows, so that any use of tested rows in the fit or in the choice would show.
"""

import numpy as np
import pytest
from long_runs import times
from simulated_models import simulated

from datamodels_inf import analyse

METHODS = ("swap-exact", "paired", "contrast")
N, D, FIT = 120, 16, 60
LEVEL = 0.1
OPTIONS = {"method": METHODS, "fit_rows": FIT, "k": 2, "random_partners": 2, "threads": 1, "lasso": {"n_lambdas": 10}}


def rates(repetitions, **more):
    """(methods, repetitions): of each data set without any influence, the share of its tests with p ≤ LEVEL."""
    found = []
    for seed in range(repetitions):
        rng = np.random.default_rng([11, seed])
        masks, _ = simulated(N, D, 1, seed=seed, strong=())
        y = rng.standard_normal(N)
        given = {name: make(masks, y) for name, make in more.items()}
        tests = analyse(masks, y, seed=seed, calibrate=bool(given), **OPTIONS, **given).tests()
        small = tests["pvalue"] <= LEVEL
        found.append([small[tests["method"] == method].mean() for method in METHODS])
    return np.array(found).T


def by_tested_rows(masks, y):
    """θ̂ that has seen what it is tested on."""
    return np.linalg.lstsq(masks[FIT:] - 0.5, y[FIT:] - y[FIT:].mean(), rcond=None)[0][:, None]


def test_without_any_influence_the_level_is_kept():
    found = rates(times(150, 600))
    error = found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
    assert (found.mean(axis=1) <= LEVEL + 3.5 * error).all(), found.mean(axis=1)
    assert (found.mean(axis=1) >= 0.015).all(), found.mean(axis=1)  # A test that never rejects keeps any level.


def test_a_fit_that_has_seen_the_tested_rows_would_be_noticed():
    found = rates(times(100, 300), theta=by_tested_rows)
    error = found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
    assert (found.mean(axis=1)[1:] > LEVEL + 3.5 * error[1:]).all(), found.mean(axis=1)


@pytest.mark.parametrize("correction", ("by", "closed-by", "bonferroni"))
def test_the_share_of_false_findings_is_kept(correction):
    """Two images have an influence; a finding about two others is false."""
    shares, true = [], 0
    for seed in range(times(80, 320)):
        masks, outcomes = simulated(240, D, 2, seed=seed, strong=((3, 1.5), (8, -1.5)))
        options = {**OPTIONS, "fit_rows": 120, "method": "contrast"}
        found = analyse(masks, outcomes, alpha=0.2, correction=correction, seed=seed, **options).findings()
        false = ~found[["i", "j"]].isin([3, 8]).any(axis=1)
        shares.append(false.mean() if len(found) else 0.0)
        true += int((~false).sum())
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) <= 0.2 + 3.5 * error
    assert true >= 3 * len(shares)  # There is something to find.
