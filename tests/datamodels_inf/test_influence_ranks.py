"""Intervals of ranks against pairwise t-tests in plain numpy, and their simultaneous coverage."""

import numpy as np
import pytest
from long_runs import times
from scipy.stats import binom
from scipy.stats import t as student

from datamodels_inf import influence, rank_intervals


def draw(rng, n=400, d=24, effects=(1.0, 0.6, 0.6, -0.6, -1.0)):
    x = rng.permuted(np.tile(np.arange(d) < d // 2, (n, 1)), axis=1)
    beta = np.zeros(d)
    beta[: len(effects)] = effects
    return x, x @ beta + rng.standard_normal(n), beta


def naive(x, y, theta, i, limit):
    """(images certainly above i, certainly below), by a t-test of every difference."""
    n, d = x.shape
    found = influence(x, y, theta=theta).estimate
    e = y - x @ theta
    e -= e.mean()
    size = x.sum(axis=1)
    kappa = np.mean(size * (d - size)) / d**2
    above = below = 0
    for j in range(d):
        if j != i:
            difference = (x[:, i].astype(float) - x[:, j]) * e
            t = (found[i] - found[j]) / (difference.std(ddof=1) / np.sqrt(n) / kappa)
            above, below = above + (t < -limit), below + (t > limit)
    return above, below


@pytest.mark.parametrize("gamma", (0.5, 0.2))
def test_equal_to_pairwise_tests(gamma):
    rng = np.random.default_rng(3)
    x, y, beta = draw(rng)
    if gamma == 0.2:
        x = rng.random(x.shape) < gamma
        y = x @ beta + rng.standard_normal(len(y))
    theta, images = 0.5 * beta, np.array([0, 4, 1, 20, *range(5, 19)])  # More than one block of 16.
    found = rank_intervals(x, y, theta=theta, images=images, threads=2)
    limit = student.ppf(1 - 0.05 / (x.shape[1] * (x.shape[1] - 1)), len(y) - 1)
    for place, i in enumerate(images):
        above, below = naive(x, y, theta, i, limit)
        assert (found.low[place], found.high[place]) == (1 + above, x.shape[1] - below)
    order = np.argsort(-influence(x, y, theta=theta).estimate)
    assert np.array_equal(order[found.rank - 1], images)


def test_all_intervals_hold_together():
    rng = np.random.default_rng(5)
    reps, wrong, told = times(400, 4000), 0, 0
    for _ in range(reps):
        x, y, beta = draw(rng)
        found = rank_intervals(x, y, theta=np.zeros(len(beta)), images=range(6))
        best = 1 + (beta > beta[:6, None]).sum(axis=1)  # Equal effects share their ranks.
        worst = len(beta) - (beta < beta[:6, None]).sum(axis=1)
        wrong += not np.all((found.low <= worst) & (found.high >= best))
        told += found.high[0] <= 3
    assert wrong <= binom.ppf(1 - 1e-6, reps, 0.05)
    assert told > reps / 2  # The largest effect is recognised.


def test_in_words():
    rng = np.random.default_rng(0)
    x, y, beta = draw(rng, n=4000)
    found = rank_intervals(x, y, theta=beta, images=[0, 1, 3, 4, 12])
    words = [found.in_words(place) for place in range(5)]
    assert words[0] == "rank 1, certainly the first"
    assert words[1].startswith("rank ") and words[1].endswith("certainly among the first 3")
    assert words[2].endswith("from below, certainly among the last 2")
    assert words[3] == "rank 1 from below, certainly the last"
    assert "anywhere from" in words[4]


def test_images_that_were_picked_by_their_estimates():
    """Nothing has any effect, and the strongest images are looked at: no rank may be claimed."""
    rng, wrong, reps = np.random.default_rng(7), 0, times(300, 3000)
    for _ in range(reps):
        x, y, _ = draw(rng, n=300, d=40, effects=())
        order = np.argsort(influence(x, y, theta=np.zeros(40)).estimate)
        found = rank_intervals(x, y, theta=np.zeros(40), images=np.concatenate([order[:5], order[-5:]]))
        wrong += not np.all((found.low == 1) & (found.high == 40))
    assert wrong <= binom.ppf(1 - 1e-6, reps, 0.05)
