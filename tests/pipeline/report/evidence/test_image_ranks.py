"""Ranks of the images shown, which were picked by the very estimates that are ranked."""

import numpy as np
from influence_atlas import make_models
from long_runs import times
from scipy.stats import t

from datamodels_inf import influence
from pipeline.report.evidence.image_ranks import ranks_of


def test_ranks_are_those_of_the_estimates_and_lie_in_their_intervals():
    models = make_models(n=3000)
    theta = models.datamodel.weight[:, 5]
    true = influence(models.masks, models.margins[:, 5], theta=theta, bias=0.0).estimate
    ranks = ranks_of(5, np.array([9, 0, 4]), models.held_out)
    assert list(ranks) == [9, 0, 4]
    for image, rank in ranks.items():
        assert rank.rank == 1 + np.count_nonzero(true > true[image])
        assert 1 <= rank.low <= rank.rank <= rank.high <= 12
        assert rank.words.startswith("rank ")
    assert ranks_of(5, np.array([], int), models.held_out) == {}


def test_picked_images_are_held_against_all_pairs_and_not_only_their_own():
    """By a naive way: every pair of images at 0.05 divided among all pairs."""
    models, n, d = make_models(n=3000), 3000, 12
    theta, y = models.datamodel.weight[:, 2], models.margins[:, 2].astype(float)
    e = y - models.masks @ theta
    g = (models.masks - 0.5) * (e - e.mean())[:, None]
    estimate = influence(models.masks, y, theta=theta).estimate
    error = np.array([[np.std(g[:, i] - g[:, j], ddof=1) for j in range(d)] for i in range(d)]) / (np.sqrt(n) * 0.25)
    ratio = (estimate[:, None] - estimate) / np.where(error > 0, error, 1.0)
    limit = t.isf(0.05 / (d * (d - 1)), n - 1)
    certain = 0
    for image, rank in ranks_of(2, np.array([3, 10, 1, 7]), models.held_out).items():
        assert rank.low == 1 + np.count_nonzero(ratio[image] < -limit)
        assert rank.high == d - np.count_nonzero(ratio[image] > limit)
        certain += rank.high - rank.low < d - 1
    assert certain


def test_the_first_by_estimate_is_rarely_said_to_be_certainly_first_where_all_are_alike():
    wrong, runs = 0, times(60, 400)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        masks = rng.permuted(np.tile(np.arange(12) < 6, (400, 1)), axis=1)
        models = make_models()
        alike = type(models)(masks, rng.normal(size=(400, 12)).astype(np.float16), models.datamodel, models.targets)
        first = int(np.argmax(influence(masks, alike.margins[:, 5], theta=models.datamodel.weight[:, 5]).estimate))
        rank = ranks_of(5, np.array([first]), alike.held_out)[first]
        wrong += rank.high < 12
    assert wrong <= 0.05 * runs + 3 * np.sqrt(0.05 * 0.95 * runs)


def test_where_less_is_better_the_first_rank_is_that_of_the_smallest_estimate():
    models = make_models(n=3000)
    images = np.arange(12)
    more, less = (ranks_of(5, images, models.held_out, higher_is_better=better) for better in (True, False))
    for image in range(12):
        assert less[image].rank == 13 - more[image].rank
        assert (less[image].low, less[image].high) == (13 - more[image].high, 13 - more[image].low)
