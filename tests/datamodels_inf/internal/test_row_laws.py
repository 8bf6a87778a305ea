"""The laws of rows: chances against all masks that there are, tails against scipy."""

import itertools

import numpy as np
import pytest
from scipy.stats import f_oneway, hypergeom, norm, pearsonr, poisson

from datamodels_inf import PackedMasks
from datamodels_inf.internal.mask_laws import Rows
from datamodels_inf.internal.row_laws import (
    DRIFT_BLOCKS,
    drift_pvalue,
    extreme_pvalue,
    fit_pvalue,
    log_complement,
    log_equal,
    neighbour_pvalue,
    repeat_pvalue,
)


def rows_of(masks, labels=None):
    labels = np.zeros(masks.shape[1], int) if labels is None else labels
    return Rows.of(PackedMasks.from_bool(masks), labels)


def drawn(rng, n, d, s):
    return rng.random((n, d)).argsort(axis=1) < s


def all_masks(d, s):
    return [frozenset(inside) for inside in itertools.combinations(range(d), s)]


@pytest.mark.parametrize(("d", "s"), [(6, 2), (6, 3), (8, 4)])
def test_chances_of_equal_and_complementary_masks_of_one_size(d, s):
    masks = all_masks(d, s)
    rows = rows_of(drawn(np.random.default_rng(0), 30, d, s))
    assert np.exp(log_equal(rows)) == pytest.approx(np.mean([a == b for a in masks for b in masks]))
    others = [frozenset(range(d)) - b for b in masks]
    if 2 * s == d:
        assert np.exp(log_complement(rows)) == pytest.approx(np.mean([a == b for a in masks for b in others]))


def test_chances_of_strata_multiply():
    """Two classes of four, two of each in every mask: 1/6 for each class."""
    rng = np.random.default_rng(1)
    masks = np.concatenate([drawn(rng, 30, 4, 2), drawn(rng, 30, 4, 2)], axis=1)
    rows = rows_of(masks, np.repeat([0, 1], 4))
    assert np.exp(log_equal(rows)) == pytest.approx(1 / 36)
    assert np.exp(log_complement(rows)) == pytest.approx(1 / 36)


def test_repeats_are_held_against_poissons_law():
    for count, couples, chance in ((1, 4950, 1e-3), (9, 4950, 1e-3), (2, 10, 1e-9)):
        assert repeat_pvalue(count, couples, np.log(chance)) == pytest.approx(poisson.sf(count - 1, couples * chance))
    assert repeat_pvalue(0, 10.0, 0.0) == 1.0


def test_neighbours_are_held_against_the_hypergeometric_law():
    """Means and variances summed over the rows, each with its own size."""
    masks = np.random.default_rng(2).random((40, 30)) < 0.4
    sizes = masks.sum(axis=1).tolist()
    laws = [hypergeom(30, a, b) for a, b in itertools.pairwise(sizes)]
    common = (masks[1:] & masks[:-1]).sum()
    expected, variance = sum(law.mean() for law in laws), sum(law.var() for law in laws)
    p, ratio = neighbour_pvalue(PackedMasks.from_bool(masks), rows_of(masks))
    assert ratio == pytest.approx(common / expected)
    assert p == pytest.approx(2 * norm.sf(abs(common - expected) / np.sqrt(variance)))


@pytest.mark.parametrize("rare", (True, False))
def test_rare_images_and_rare_gaps_are_counted_by_poissons_law(rare):
    """At the level of 0.001 a normal law alone is too sure: it finds 6 of these 400."""
    rng, small = np.random.default_rng(3), 0
    for _ in range(400):
        masks = (rng.random((60, 40)) < 0.01) == rare
        small += neighbour_pvalue(PackedMasks.from_bool(masks), rows_of(masks))[0] <= 0.001
    assert small <= 2


def test_empty_and_full_masks():
    rng = np.random.default_rng(4)
    masks = rng.random((500, 10)) < 0.5
    masks[(masks.all(axis=1)) | ~masks.any(axis=1), 0] ^= True
    some = masks.copy()
    some[:3] = False
    rows = rows_of(some)
    assert extreme_pvalue(rows, 0) == 1.0
    few, many = extreme_pvalue(rows, 3), extreme_pvalue(rows, 60)
    assert many < 1e-6 < 1e-3 < few  # Coins make one of 512 masks empty or full, and some are one image away.
    large = drawn(rng, 500, 60, 30)
    large[:3] = False
    assert extreme_pvalue(rows_of(large), 3) < 1e-6
    assert extreme_pvalue(rows_of(np.zeros((5, 4), bool)), 5) == 0.0


@pytest.mark.parametrize("slope", (0.0, 0.001, 0.004))
def test_drift_is_a_trend_or_a_difference_between_blocks(slope):
    rng = np.random.default_rng(5)
    masks = rng.random((400, 30)) < 0.4 + slope * np.arange(400)[:, None] / 4
    sizes = masks.sum(axis=1)
    trend = pearsonr(sizes, np.arange(400)).pvalue
    blocks = f_oneway(*np.array_split(sizes, DRIFT_BLOCKS)).pvalue
    assert drift_pvalue(rows_of(masks)) == pytest.approx(min(1.0, 2 * trend, 2 * blocks), rel=1e-6)


def test_fit_rows_that_are_independent_keep_the_level_and_those_that_are_not_do_not():
    rng, small = np.random.default_rng(6), 0
    labels = np.arange(40) % 2
    for _ in range(400):
        tested, fit = drawn(rng, 50, 40, 20), drawn(rng, 80, 40, 12)
        p, _ = fit_pvalue(tested.sum(axis=0), fit.sum(axis=0), rows_of(tested, labels), rows_of(fit, labels))
        small += p <= 0.1
    assert abs(small - 40) <= 4 * np.sqrt(400 * 0.1 * 0.9)
    tested = drawn(rng, 50, 40, 20)
    p, correlation = fit_pvalue(tested.sum(axis=0), tested.sum(axis=0), rows_of(tested), rows_of(tested))
    assert p < 1e-4  # About √(d − 1) standard deviations.
    assert correlation == pytest.approx(1.0)
