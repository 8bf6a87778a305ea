"""Masks as people really have them, each through the real stages: without the check the tests break their
level on images of no influence; with it the level is kept."""

import numpy as np
import pytest
from long_runs import times
from masks_of_people import METHODS, OLD, TOP, make, pairs_of, run
from scipy.stats import binom

DATA_SETS = times(3, 6)  # One shows each of the broken variants.
LEVEL = 0.05


def rates(columns):
    """{method: (rejections at LEVEL, tests)}."""
    of = {method: columns["pvalue"][columns["method"] == method] for method in METHODS}
    return {method: (int((p <= LEVEL).sum()), int((~np.isnan(p)).sum())) for method, p in of.items() if len(p)}


def broken(counts):
    """The methods that reject more often than a test of that level can, by a count beyond its 1 − 1e-6 quantile."""
    return {method for method, (count, n) in counts.items() if count > binom.ppf(1 - 1e-6, n, LEVEL)}


def total(parts):
    """The counts of several data sets together."""
    return {method: tuple(sum(part[method][k] for part in parts) for k in (0, 1)) for method in parts[0]}


def rejections(home, name, settings, which="across", data_sets=DATA_SETS):
    """Over data sets of one case: 1800 tests of images without influence in each."""
    parts = []
    for seed in range(data_sets):
        if not (home / str(seed)).exists():
            make(home / str(seed), name, seed)
        design = TOP if which == "top" else pairs_of(home / str(seed), which)
        parts.append(rates(run(home / str(seed), *design, *settings)[0]))
    return total(parts)


@pytest.mark.parametrize(("name", "which", "victims"), [
    ("stratified", "across", {"paired", "contrast"}),
    ("blocks", "across", {"paired", "contrast"}),
    ("antithetic", "across", {"paired", "contrast"}),
    ("reseeded", "top", {"contrast"}),
    ("drifting size", "across", {"swap", "swap-exact"}),
    ("drifting noise", "across", {"swap", "swap-exact"}),
])  # fmt: skip
def test_without_the_check_the_level_is_broken(tmp_path, name, which, victims):
    """What every case of the table did before: one data set is enough to see it."""
    counts = rejections(tmp_path, name, (OLD, "test.order=given"), which, data_sets=1)
    assert victims <= broken(counts), counts


def test_uniform_masks_keep_the_level(tmp_path):
    assert not broken(rejections(tmp_path, "uniform", ()))


def test_pairs_within_a_class_of_stratified_masks_keep_the_level(tmp_path):
    assert not broken(rejections(tmp_path, "stratified", (), "within"))


@pytest.mark.parametrize("name", ("drifting size", "drifting noise"))
def test_drift_along_the_rows_keeps_the_level(tmp_path, name):
    assert not broken(rejections(tmp_path, name, ()))


def test_masks_trained_with_several_seeds_are_averaged(tmp_path):
    """Then the same design that rejected far too often keeps its level."""
    grouped = "source.group_by_mask=true", "source.fit_rows=150", "source.held_out_rows=400"
    assert not broken(rejections(tmp_path, "reseeded", grouped, "top"))
