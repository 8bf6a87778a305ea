"""Size of the tests over blocks of rows, in hard null laws and against a fitter that looks at past signs.

Variants that look alike and are not valid must fail the same checks: cross-fitting both ways, a sign test that leaves
ties out, so that the past chooses how many rows count, and one whose tolerance is only for rows that all lean one way.
"""

import numpy as np
import pytest
from blocks import progressive_tests, pvalues
from long_runs import times
from scipy.stats import binom

from datamodels_inf.methods import PairTests
from datamodels_inf.progressive import Signs, rank_pvalue, sign_pvalue
from datamodels_inf.pvalues import binomial_pvalue

LEVELS = (0.05, 0.01, 0.001)
D = 26
PAIRS = np.arange(24).reshape(12, 2)
"""Disjoint: the signs of one pair say nothing of another's, so that each gives a p-value of its own."""


def keeps_its_levels(p):
    """Whether a valid test would have so many small p-values, but once in a hundred thousand."""
    p = np.ravel(p)
    return all(np.count_nonzero(p <= level) <= binom.isf(1e-5, p.size, level) for level in LEVELS)


NOISE = {
    "normal": lambda rng, masks: rng.normal(size=len(masks)),
    "cauchy": lambda rng, masks: rng.standard_cauchy(len(masks)),
    "skewed": lambda rng, masks: rng.exponential(size=len(masks)) ** 2,
    "grid": lambda rng, masks: np.rint(rng.normal(size=len(masks))),
    "mostly zero": lambda rng, masks: rng.normal(size=len(masks)) * (rng.random(len(masks)) < 0.2),
    "by others": lambda rng, masks: rng.normal(size=len(masks)) * np.exp(2.0 * masks[:, 24] - 3.0 * masks[:, 25]),
    "both or one": lambda rng, masks: np.prod([1.0 + masks[:, i] + masks[:, j] for i, j in PAIRS.tolist()], axis=0),
}


def least_squares(masks, y):
    """θ̂ of the past, with the pairs' own weights, which differ by noise."""
    x = masks - masks.mean(axis=0)
    return np.linalg.solve(x.T @ x + 1e-2 * len(x) * np.eye(D), x.T @ (y - y.mean()))


def images_in(rng, n):
    return rng.permuted(np.tile(np.arange(D) < D // 2, (n, 1)), axis=1)


@pytest.mark.parametrize("noise", sorted(NOISE))
def test_size_under_hard_laws(noise):
    rng = np.random.default_rng(0)
    found = {"contrast": [], "paired": []}
    for _ in range(times(150, 3000)):
        masks = images_in(rng, 160)
        y = NOISE[noise](rng, masks) + masks[:, 24:] @ np.array([1.0, -1.0])
        tests = progressive_tests(masks, y, (40, 70, 110), least_squares, PAIRS)
        for method, p in found.items():
            p.append(pvalues(tests, method))
    for method, p in found.items():
        assert keeps_its_levels(p), method


def test_groups_keep_their_size():
    rng = np.random.default_rng(1)
    groups = np.arange(24).reshape(6, 2, 2)
    found = {"contrast": [], "paired": []}
    for _ in range(times(150, 3000)):
        masks = images_in(rng, 300)
        tests = progressive_tests(masks, rng.normal(size=300) + masks[:, 24], (60, 140), least_squares, groups)
        for method, p in found.items():
            p.append(pvalues(tests, method))
    for method, p in found.items():
        assert keeps_its_levels(p), method


class Steered:
    """Rows of many data sets at once, n in each: c = x_i − x_j = ±1, types A and B of rows, and noise.

    A θ̂ with a very large weight gives the rows of one type the high ranks and D the sign of −c (A) or c (B). The fitter
    takes the type that leans more to D > 0 in the rows that it sees: it steers by their signs.
    """

    def __init__(self, rng, runs, n):
        self.c = rng.choice([-1, 1], (runs, n))
        self.a = rng.random((runs, n)) < 0.5
        self.noise = np.abs(rng.normal(size=(runs, n)))

    def steer(self):
        """Whether the fitter takes A."""
        return -(self.c * self.a).sum(axis=1) > (self.c * ~self.a).sum(axis=1)

    def rank_sum(self, takes_a):
        """V with the θ̂ of a fitter that took A, or B."""
        high = self.a == takes_a[:, None]
        size = self.noise + 1e3 * high
        sign = np.where(high & takes_a[:, None], -self.c, self.c)
        ranks = np.argsort(np.argsort(size, axis=1), axis=1) + 1
        return (sign * ranks).sum(axis=1)


def test_a_fitter_that_steers_by_past_signs_gains_nothing_but_by_cross_fitting():
    rng = np.random.default_rng(2)
    runs, n = times(10_000, 100_000), 80
    first, second, third = (Steered(rng, runs, n) for _ in range(3))
    counts = np.full((runs, 2), n)
    progressive = np.stack([second.rank_sum(first.steer()), third.rank_sum(second.steer())], axis=1)
    assert keeps_its_levels(rank_pvalue(progressive, counts))
    crossed = np.stack([second.rank_sum(third.steer()), third.rank_sum(second.steer())], axis=1)
    assert not keeps_its_levels(rank_pvalue(crossed, counts))


def test_a_fitter_that_stops_when_it_is_ahead_gains_nothing_but_without_coins():
    """θ̂_i = θ̂_j, so that D = 0 from there on, as soon as the rows so far would be significant."""
    rng = np.random.default_rng(3)
    runs, n, blocks = times(10_000, 100_000), 40, 12
    stopped, signs = np.zeros(runs, bool), []
    for _ in range(blocks):
        wins = np.where(stopped, 0, rng.binomial(n, 0.5, runs))
        signs.append(Signs(wins, np.where(stopped, 2 * n, n), np.full(runs, n), 2 * n))
        total = sum(part.wins for part in signs)
        untied = sum(part.n - part.ties for part in signs)
        stopped |= binomial_pvalue(total, untied, 0.0) <= 0.01
    pairs = rng.permutation(2 * runs).reshape(runs, 2, 1)
    assert keeps_its_levels(sign_pvalue(signs, pairs, seed=1))
    assert not keeps_its_levels(binomial_pvalue(total, untied, 0.0))


def test_a_tolerance_is_kept():
    """Wins of chance ½ + τ/2: the edge of the null."""
    rng = np.random.default_rng(4)
    runs, n, tau = times(5000, 50_000), 300, 0.2
    wins = [rng.binomial(n, 0.5 + tau / 2, runs) for _ in range(3)]
    signs = [Signs(own, np.zeros(runs, np.int64), np.full(runs, n), n) for own in wins]
    pairs = rng.permutation(2 * runs).reshape(runs, 2, 1)
    assert keeps_its_levels(sign_pvalue(signs, pairs, tau=tau))
    assert not keeps_its_levels(sign_pvalue(signs, pairs, tau=0.5 * tau))


def test_a_fitter_that_leans_to_the_side_that_is_ahead_gains_nothing_but_by_two_tails_of_one_law():
    """Every row's chance is ½ ± τ/2, at the edge of the null; the sign of θ̂_i − θ̂_j turns it for a block."""
    rng = np.random.default_rng(7)
    runs, sizes, tau = times(10_000, 100_000), (40, 80, 120, 180, 240, 340), 0.03
    ahead, signs = np.zeros(runs), []
    for n in sizes:
        wins = rng.binomial(n, 0.5 + np.where(ahead >= 0, tau, -tau) / 2)
        signs.append(Signs(wins, np.zeros(runs, np.int64), np.full(runs, n), n))
        ahead += 2 * wins - n
    pairs = rng.permutation(2 * runs).reshape(runs, 2, 1)
    assert keeps_its_levels(sign_pvalue(signs, pairs, tau=tau))
    total = sum(part.wins for part in signs)
    assert not keeps_its_levels(binomial_pvalue(total, sum(sizes), tau / 2))


@pytest.mark.parametrize(("noise", "least"), [("normal", 0.945), ("skewed", 0.92)])
def test_intervals_over_blocks_cover(noise, least):
    """Noise of another size in each block, a θ̂ of the past, effects that are there."""
    rng = np.random.default_rng(5)
    runs, covered = times(80, 1000), []
    effect = np.linspace(-1.0, 1.0, D)
    truth = effect[PAIRS[:, 0]] - effect[PAIRS[:, 1]]
    for _ in range(runs):
        masks = images_in(rng, 620)
        spread = np.repeat([1.0, 2.0, 1.0, 0.5], [100, 160, 160, 200])
        y = masks @ effect + spread * NOISE[noise](rng, masks)
        found = progressive_tests(masks, y, (100, 260, 420), least_squares, PAIRS).contrast
        covered.append((found.low <= truth) & (truth <= found.high))
    assert np.count_nonzero(covered) >= binom.ppf(1e-4, np.size(covered), least)


def test_all_pairs_at_once_are_what_each_is_alone():
    rng = np.random.default_rng(6)
    masks, y = images_in(rng, 500), rng.normal(size=500)
    together = progressive_tests(masks, y, (100, 300), least_squares, PAIRS[:3])
    for method in ("contrast", "paired"):
        alone = [pvalues(PairTests(together.blocks, pair[None]), method)[0] for pair in together.pairs]
        np.testing.assert_array_equal(pvalues(together, method), alone)
