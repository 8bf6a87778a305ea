"""Single images over blocks of rows: the mean of the blocks' estimates, and errors that cover."""

import itertools

import numpy as np
import pytest
from blocks import block_target
from long_runs import times
from scipy.stats import binom

from datamodels_inf import PackedMasks, influence
from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.influence import centred
from datamodels_inf.methods import PairTests
from datamodels_inf.pooled import pooled_residuals, pooled_target
from datamodels_inf.row_blocks import block_ends

D, BOUNDS = 14, (0, 150, 330, 600)


def problem(seed, law="fixed", noise=(2.0, 1.0, 0.5)):
    """(masks, margins, the θ̂ of each block)."""
    rng = np.random.default_rng(seed)
    n = BOUNDS[-1]
    masks = rng.permuted(np.tile(np.arange(D) < 5, (n, 1)), axis=1) if law == "fixed" else rng.random((n, D)) < 0.4
    spread = np.repeat(noise, np.diff(BOUNDS))
    y = masks @ np.linspace(-1, 1, D) + spread * rng.normal(size=n)
    return masks, y, [rng.normal(0, 0.3, D) for _ in noise]


def blocks_of(masks, y, thetas):
    return [
        block_target(masks[a:b], y[a:b], theta, 0.2)
        for (a, b), theta in zip(itertools.pairwise(BOUNDS), thetas, strict=True)
    ]


@pytest.mark.parametrize("law", ["fixed", "coins"])
def test_the_estimate_is_the_mean_of_the_blocks_estimates(law):
    masks, y, thetas = problem(0, law)
    single, weight = [], []
    for (a, b), theta in zip(itertools.pairwise(BOUNDS), thetas, strict=True):
        single.append(influence(masks[a:b], y[a:b], theta=theta, bias=0.2).estimate)
        share = masks[a:b].mean(axis=1)
        weight.append((share * (1 - share)).sum())
        step = single[-1] - (theta - (theta.sum() - theta) / (D - 1))
        single[-1] = single[-1] + step / (b - a - 1)  # `influence` takes 1/n off this part by centring.
    expected = np.average(single, axis=0, weights=weight)
    margins, theta = pooled_target(PackedMasks.from_bool(masks), blocks_of(masks, y, thetas))
    together = influence(masks, margins, theta=theta)
    np.testing.assert_allclose(together.estimate, expected, rtol=1e-9, atol=1e-9)


def test_the_error_is_not_below_that_of_the_mean():
    masks, y, thetas = problem(1)
    margins, theta = pooled_target(PackedMasks.from_bool(masks), blocks_of(masks, y, thetas))
    together = influence(masks, margins, theta=theta)
    share = masks.mean(axis=1)
    e = np.concatenate([block.sample.y - 0.2 - block.f for block in blocks_of(masks, y, thetas)])
    pooled, _ = pooled_residuals(e[None], share, BOUNDS)
    products = (masks - share[:, None]) * pooled[0][:, None] / (len(y) * np.mean(share * (1 - share)))
    within = [products[a:b] - products[a:b].mean(axis=0) for a, b in itertools.pairwise(BOUNDS)]
    own = np.sqrt(sum((part**2).sum(axis=0) * len(part) / (len(part) - 1) for part in within))
    assert (together.standard_error >= 0.99 * own).all()
    assert (together.standard_error <= 1.2 * own).all()


def test_one_block_is_centred_and_nothing_else():
    e = np.random.default_rng(2).normal(size=(3, 50))
    pooled, weight = pooled_residuals(e, np.full(50, 0.3), (0, 50))
    np.testing.assert_array_equal(pooled, centred(e))
    assert weight.tolist() == [1.0]


def test_weights_are_those_of_the_masks_whatever_the_residuals_are():
    e = np.random.default_rng(3).normal(size=(2, 60))
    e[0, :20] = 0.7
    pooled, weight = pooled_residuals(e, np.full(60, 0.5), (0, 20, 60))
    np.testing.assert_allclose(weight, [1 / 3, 2 / 3])
    np.testing.assert_allclose(pooled[0, :20], 0.0, atol=1e-12)
    np.testing.assert_allclose(pooled[1, 20:], centred(e[1:, 20:])[0] * 40 / 39)


@pytest.mark.parametrize("outcome", ["rare failures", "skewed"])
def test_intervals_cover_where_variance_and_effect_go_together(outcome):
    """Weights by the blocks' own variances would cover a third to a half of these."""
    bounds = block_ends(1000, 20)
    truth = {"rare failures": 0.03, "skewed": 6.0}[outcome]
    covered = {"atlas": 0, "contrast": 0}
    runs = times(150, 1000)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        masks = rng.permuted(np.tile(np.arange(D) < D // 2, (1000, 1)), axis=1)
        y = np.where(rng.random(1000) < np.where(masks[:, 0], 0.01, 0.04), 0.0, 1.0)
        if outcome == "skewed":
            y = rng.exponential(size=1000) ** 3 * (1.0 + masks[:, 0])
        tested = [*bounds, 1000]
        blocks = [block_target(masks[a:b], y[a:b], np.zeros(D), y[:a].mean()) for a, b in itertools.pairwise(tested)]
        packed = PackedMasks.from_bool(masks[bounds[0] :])
        margins, theta = pooled_target(packed, blocks)
        low, high = (end[0] for end in influence(packed, margins, theta=theta).interval)
        covered["atlas"] += low <= truth <= high
        pair = PairTests(blocks, np.array([[[0], [1]]])).contrast
        covered["contrast"] += pair.low[0] <= truth <= pair.high[0]
    for name, count in covered.items():
        assert count >= binom.ppf(1e-4, runs, 0.92), name


def test_the_atlas_of_blocks_is_that_of_the_pooled_problem():
    masks, y, thetas = problem(4)
    packed = PackedMasks.from_bool(masks)
    datamodels = [Datamodel(theta[:, None], np.array([0.2]), np.array([np.nan])) for theta in thetas]
    tile = AtlasMaker(packed, bounds=BOUNDS).tile(range(1), y[:, None], datamodels)
    margins, theta = pooled_target(packed, blocks_of(masks, y, thetas))
    expected = influence(masks, margins, theta=theta)
    np.testing.assert_allclose(tile.estimate[0], expected.estimate, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(tile.standard_error[0], expected.standard_error, rtol=1e-8)
    np.testing.assert_allclose(tile.pvalue[0], expected.pvalue, rtol=1e-6)


def least_squares(masks, y):
    x = masks - masks.mean(axis=0)
    return np.linalg.solve(x.T @ x + 1e-2 * len(x) * np.eye(D), x.T @ (y - y.mean()))


def test_intervals_and_pvalues_over_blocks_keep_their_levels():
    """θ̂ of all rows before a block; half of the images have no influence against the average."""
    effect = np.where(np.arange(D) % 2, 0.0, np.linspace(-1, 1, D))
    effect -= np.where(np.arange(D) % 2, 0.0, effect[::2].mean())  # So that the others are at the average.
    truth = effect - (effect.sum() - effect) / (D - 1)
    covered, small = [], []
    for seed in range(times(250, 4000)):
        masks, _, _ = problem(seed)
        rng = np.random.default_rng(10_000 + seed)
        y = masks @ effect + np.repeat([2.0, 1.0, 0.5], np.diff(BOUNDS)) * rng.normal(size=len(masks))
        parts = itertools.pairwise(BOUNDS)
        thetas = [least_squares(masks[:a], y[:a]) if a else np.zeros(D) for a, _ in parts]
        margins, theta = pooled_target(PackedMasks.from_bool(masks), blocks_of(masks, y, thetas))
        found = influence(masks, margins, theta=theta)
        low, high = found.interval
        covered.append((low <= truth) & (truth <= high))
        small.append(found.pvalue[1::2])
    covered, small = np.ravel(covered), np.ravel(small)
    assert np.count_nonzero(covered) >= binom.ppf(1e-4, covered.size, 0.945)
    assert np.abs(truth[1::2]).max() < 1e-12
    for level in (0.05, 0.01):
        assert np.count_nonzero(small <= level) <= binom.isf(1e-5, small.size, 1.06 * level)
