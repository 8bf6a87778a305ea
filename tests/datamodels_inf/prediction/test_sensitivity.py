"""The z-scores that each method is said to see, against those of simulated tests."""

import numpy as np
import pytest
from long_runs import times

from datamodels_inf import Datamodel, prepare_targets
from datamodels_inf.methods import METHODS, PairTests
from datamodels_inf.prediction import PairEvidence
from datamodels_inf.prediction.family import CountedFamily
from datamodels_inf.prediction.sensitivity import CONTRAST, PAIRED, SWAP_EXACT

N, D, EFFECT = 3000, 6, 0.3
PAIRS = {1: np.array([[[0], [3]]]), 2: np.array([[[0, 1], [3, 4]]])}
Q = {1: 0.6, 2: 0.2}
"""Of masks of 3 of 6 images: how many have just one of two, and all of two and none of two others."""


def evidence(theta, g):
    """As if effects were known, with noise 1: error² = 4/(n·q)."""
    error = np.full(1, 2.0 / np.sqrt(N * Q[1]))
    return PairEvidence(np.full((1, g), EFFECT), error, np.full((1, g), theta), Q[1], Q[g], N, N)


def realised(name, theta, g):
    """The mean z that p-values of a method say."""
    method, pairs, scores = METHODS[name], PAIRS[g], []
    for seed in range(times(40, 400)):
        rng = np.random.default_rng(seed)
        masks = rng.permuted(np.tile(np.arange(D) < D // 2, (N, 1)), axis=1)
        truth, fitted = np.zeros((2, D, 1))
        for side, sign in enumerate((0.5, -0.5)):  # Residuals have mean 0.
            truth[pairs[0, side]], fitted[pairs[0, side]] = sign * EFFECT, sign * theta
        datamodel = Datamodel(fitted, np.zeros(1), np.zeros(1))
        (target,) = prepare_targets(masks, masks @ truth + rng.standard_normal((N, 1)), datamodel)
        scores.append(method.sensitivity.law.critical(method.test(PairTests([target], pairs, seed=seed)).pvalue)[0])
    return np.mean(scores)


@pytest.mark.parametrize(
    ("name", "theta", "g"),
    (
        ("contrast", 0.5, 1),
        ("contrast", 0.0, 1),
        ("contrast", 0.5, 2),
        ("paired", 0.5, 1),
        ("paired", 0.1, 1),
        ("paired", 0.5, 2),
        ("swap-exact", 1.0, 1),
        ("swap", 1.0, 1),
        ("swap-exact", 0.7, 2),
    ),
)
def test_methods_see_what_they_are_said_to_see(name, theta, g):
    estimate, _, test_error, efficiency = METHODS[name].sensitivity.seen(evidence(theta, g))
    expected = float((efficiency * estimate / test_error)[0])
    # For groups it is a lower bound for the paired test, and rough for all.
    assert realised(name, theta, g) == pytest.approx(expected, rel=0.08 if g == 1 else 0.17, abs=0.4)


@pytest.mark.parametrize("sensitivity", (PAIRED, SWAP_EXACT), ids=("paired", "swap-exact"))
def test_scores_that_look_through_theta_see_nothing_where_it_is_equal(sensitivity):
    assert sensitivity.seen(evidence(0.0, 1))[3][0] == 0.0
    assert CountedFamily.of(sensitivity.cells(evidence(0.0, 1))).gain[0] < 0.0011


def test_errors_are_those_of_what_is_estimated():
    """Of groups, the contrast's estimate is a sum of two, the other one a sum along θ̂."""
    single, group = CONTRAST.seen(evidence(1.0, 1)), CONTRAST.seen(evidence(1.0, 2))
    assert group[0] == 2 * single[0] and group[1] == pytest.approx(np.sqrt(2.0) * single[1])
    along = PAIRED.seen(evidence(1.0, 2))
    assert along[0] == pytest.approx(np.sqrt(2.0) * EFFECT) and along[1] == single[1]
