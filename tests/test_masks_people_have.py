"""Masks as people really have them (METHOD 11), each through the real stages: without the check the tests break their
level on images of no influence; with it the run is refused by name, or the level is kept."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from pyarrow import parquet
from scipy.stats import binom

from pipeline.commands import findings
from pipeline.config import load_config
from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline

CLASSES, SIZE, INERT = 6, 20, 12
IMAGES, TARGETS = CLASSES * SIZE, 50
FIT_ROWS, HELD_OUT = 200, 2000
ROWS = FIT_ROWS + HELD_OUT
LABELS = np.arange(IMAGES) // SIZE
DATA_SETS = 6
LEVEL = 0.05
OLD = "test.allow_unexchangeable=true"
"""As before there was a check: all is tested."""
METHODS = ("swap", "swap-exact", "paired", "contrast")


# The laws of masks.


def uniform(rng, rows=ROWS):
    return rng.random((rows, IMAGES)).argsort(axis=1) < IMAGES // 2


def stratified(rng):
    return (rng.random((ROWS, CLASSES, SIZE)).argsort(axis=2) < SIZE // 2).reshape(ROWS, IMAGES)


def blocks(rng):
    """Four images of a class that always go together: one of influence with three of none, or all inert."""
    together = rng.random((ROWS, IMAGES // 4)).argsort(axis=1) < IMAGES // 8
    return np.repeat(together, 4, axis=1)[:, np.argsort(BLOCK_ORDER)]


BLOCK_ORDER = np.concatenate([
    c * SIZE + np.concatenate([[k, *(CLASSES + 2 + 3 * k + np.arange(3))] if k < 4 else [4, 5, 6, 7] for k in range(5)])
    for c in range(CLASSES)
])  # fmt: skip


def antithetic(rng):
    half = uniform(rng, ROWS // 2)
    return np.stack([half, ~half], axis=1).reshape(ROWS, IMAGES)


def reseeded(rng):
    """Four models of each mask, in any order."""
    return np.repeat(uniform(rng, ROWS // 4), 4, axis=0)[rng.permutation(ROWS)]


def drifting_size(rng):
    return rng.random((ROWS, IMAGES)) < np.linspace(0.2, 0.8, ROWS)[:, None]


@dataclass(frozen=True)
class Case:
    """masks: their law. strength: of the images that have an influence. drift: of the noise along the rows. own: an
    effect of each mask as a whole, which all models with this mask share."""

    masks: Callable[[np.random.Generator], NDArray[np.bool_]]
    strength: float = 1.0
    drift: float = 1.0
    own: float = 0.0


CASES = {
    "uniform": Case(uniform),
    "stratified": Case(stratified),
    "blocks": Case(blocks),
    "antithetic": Case(antithetic),
    "reseeded": Case(reseeded, strength=0.0, own=1.5),
    "drifting size": Case(drifting_size),
    "drifting noise": Case(uniform, drift=6.0),
}


def make(folder, name, seed=0):
    """Masks, margins and labels as files. The first images of each class have influence, one sign a class."""
    case = CASES[name]
    rng = np.random.default_rng([2026, seed])
    masks = case.masks(rng)
    weight = np.where(np.arange(IMAGES) % SIZE < SIZE - INERT, np.where(LABELS % 2, 1.0, -1.0), 0.0) * case.strength
    noise = rng.standard_normal((ROWS, TARGETS)) * np.geomspace(1, case.drift, ROWS)[:, None]
    if case.own:
        _, which = np.unique(masks, axis=0, return_inverse=True)
        noise += case.own * rng.standard_normal((which.max() + 1, TARGETS))[which.ravel()]
    folder.mkdir(parents=True)
    np.save(folder / "masks.npy", masks)
    np.save(folder / "margins.npy", ((masks @ weight)[:, None] + noise).astype(np.float32))
    Labels(LABELS, np.zeros(TARGETS, np.int64), tuple("abcdef")).save(folder / "labels.npz")
    inert = np.flatnonzero(np.arange(IMAGES) % SIZE >= SIZE - INERT)
    across = np.stack([inert[LABELS[inert] < CLASSES // 2], inert[LABELS[inert] >= CLASSES // 2]], axis=1)
    write_pairs(folder / "across.csv", across)
    write_pairs(folder / "within.csv", inert.reshape(-1, 2))
    write_pairs(folder / "both.csv", np.concatenate([across, inert.reshape(-1, 2)]))
    return masks


def write_pairs(path, pairs):
    """Each pair on each target."""
    lines = (f"{i},{j},{target}" for target in range(TARGETS) for i, j in pairs)
    path.write_text("\n".join(["i,j,target", *lines, ""]), encoding="utf-8")


def run(folder, *settings, labels=True, say=lambda line: None):
    """The columns of tests.parquet, as the stages made them, and the summary of the test stage."""
    if labels:
        settings = (f"source.labels={folder / 'labels.npz'}", *settings)
    common = ["source.kind=files", f"source.folder={folder}",
              f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={HELD_OUT}", "fit.targets=all",
              "fit.n_lambdas=10", "fit.lambda_ratio=0.05", f"test.method={list(METHODS)}"]  # fmt: skip
    config = load_config("digits", [*common, *settings])
    result = Pipeline(config, folder / "store", folder, quiet=True, say=say).run("test")
    table = parquet.read_table(result.folder / "tests.parquet")
    return {name: table[name].to_numpy() for name in table.column_names[:-2]}, result.summary


def pairs_of(folder, which):
    return "test.design=list", f"test.file={folder / which}.csv"


TOP = ("test.design=top", "test.targets=all", "test.k=8", "test.random_partners=4")


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


@pytest.mark.parametrize(("name", "sentence"), [
    ("blocks", "images go together in blocks"),
    ("antithetic", "the complement stands there too"),
    ("reseeded", "are also masks of fit rows, so that θ̂ has seen them.*source.group_by_mask = true averages"),
])  # fmt: skip
def test_the_run_is_refused_before_the_fit(tmp_path, name, sentence):
    make(tmp_path / name, name)
    said = []
    with pytest.raises(BadInputError, match=f"no p-value would be valid: .*{sentence}"):
        run(tmp_path / name, *pairs_of(tmp_path / name, "across"), say=said.append)
    assert not any("test " in line for line in said)
    assert not list((tmp_path / name / "store" / "fit").glob("[0-9a-f]*"))


def test_stratified_masks_test_pairs_within_a_class_and_name_the_others(tmp_path):
    make(tmp_path / "0", "stratified", 0)
    said = []
    columns, summary = run(tmp_path / "0", *pairs_of(tmp_path / "0", "both"), say=said.append)
    across = LABELS[columns["i"]] != LABELS[columns["j"]]
    assert 0 < across.sum() < len(across)
    assert np.isnan(columns["pvalue"][across]).all()
    assert np.isnan(columns["effect"][across]).all()
    assert set(columns["note"][across]) == {
        "not tested: the masks are stratified by class, and the images are of two classes"
    }
    assert not np.isnan(columns["pvalue"][~across]).any()
    assert summary["mask_law"] == "stratified"
    assert summary["n_untested"] == across.sum() / len(METHODS) == 36 * TARGETS
    assert any("stratified by class: 1,800 of 3,600 pairs are of two classes and not tested" in line for line in said)


def test_pairs_within_a_class_of_stratified_masks_keep_the_level(tmp_path):
    assert not broken(rejections(tmp_path, "stratified", (), "within"))


def test_a_run_without_any_pair_within_a_class_is_refused(tmp_path):
    make(tmp_path / "0", "stratified", 0)
    with pytest.raises(
        BadInputError, match="stratified by class, so only pairs within a class can be tested, but every"
    ):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "across"))


def test_without_labels_stratified_masks_are_refused(tmp_path):
    make(tmp_path / "0", "stratified", 0)
    with pytest.raises(BadInputError, match=r"in blocks, or the rows are not independent.*give source\.labels"):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "within"), labels=False)


@pytest.mark.parametrize("name", ("drifting size", "drifting noise"))
def test_drift_along_the_rows_keeps_the_level(tmp_path, name):
    assert not broken(rejections(tmp_path, name, ()))


def test_the_given_order_is_refused_where_the_size_drifts(tmp_path):
    make(tmp_path / "0", "drifting size", 0)
    design = pairs_of(tmp_path / "0", "across")
    with pytest.raises(BadInputError, match=r'test\.order = "given" needs rows of one law, but the size of the masks'):
        run(tmp_path / "0", *design, "test.order=given")
    run(tmp_path / "0", *design, "test.order=given", "test.method=contrast")


def test_masks_trained_with_several_seeds_are_averaged(tmp_path):
    """Then the same design that rejected far too often keeps its level."""
    grouped = "source.group_by_mask=true", "source.fit_rows=150", "source.held_out_rows=400"
    assert not broken(rejections(tmp_path, "reseeded", grouped, "top"))


def test_averaged_margins_are_the_means_of_equal_masks(tmp_path):
    masks = make(tmp_path / "0", "reseeded")
    margins = np.load(tmp_path / "0" / "margins.npy").astype(np.float64)
    said = []
    run(tmp_path / "0", *TOP, "source.group_by_mask=true", "source.fit_rows=150", "source.held_out_rows=400",
        "test.method=contrast", say=said.append)  # fmt: skip
    [folder] = (tmp_path / "0" / "store" / "download").glob("[0-9a-f]*")
    kept = np.unpackbits(np.load(folder / "masks.npy"), axis=1, count=IMAGES).astype(bool)
    means = np.load(folder / "margins.npy")
    assert len(kept) == len(np.unique(kept, axis=0)) == 550
    for row in (0, 7, 149, 150, 549):
        same = (masks == kept[row]).all(axis=1)
        assert same.sum() == 4
        np.testing.assert_allclose(means[row], margins[same].mean(axis=0), rtol=1e-5, atol=1e-6)
    first = [np.flatnonzero((masks == mask).all(axis=1))[0] for mask in kept]
    assert first == sorted(first)
    assert any("1,650 models repeat a mask" in line for line in said)


def test_too_few_different_masks_are_said(tmp_path):
    make(tmp_path / "0", "reseeded")
    with pytest.raises(BadInputError, match="there are only 550 different masks"):
        run(tmp_path / "0", *TOP, "source.group_by_mask=true")


def page_of(folder, *settings):
    """The report's page and the lines of `compare`."""
    common = ["source.kind=files", f"source.folder={folder}", f"source.labels={folder / 'labels.npz'}",
              f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={HELD_OUT}", "fit.targets=all", "fit.n_lambdas=10",
              "fit.lambda_ratio=0.05", "report.name=page", "report.max_panels=1"]  # fmt: skip
    pipeline = Pipeline(load_config("digits", [*common, *settings]), folder / "store", folder / "reports", quiet=True)
    pipeline.run("report")
    lines = findings.compare_lines(findings.Tested.of(pipeline, ""))
    return (folder / "reports" / "page" / "index.html").read_text(), list(lines)


def test_what_the_user_answers_for_is_a_warning_on_the_page_and_in_the_commands(tmp_path):
    make(tmp_path / "s", "stratified", 0)
    page, lines = page_of(tmp_path / "s", *pairs_of(tmp_path / "s", "both"), "test.method=contrast", OLD)
    assert "p-values may not be valid: every mask holds the same number of images of each class" in page
    assert "only pairs within a class are tested" not in page
    assert lines[0].startswith("Warning: p-values may not be valid")
    page, lines = page_of(tmp_path / "s", *pairs_of(tmp_path / "s", "both"), "test.method=contrast")
    assert "only pairs within a class are tested" in page
    assert "1800 more cannot be: the masks are stratified by class" in page
    assert "may not be valid" not in page
    assert lines[0].startswith("Of 1,800 pairs")
    make(tmp_path / "d", "drifting size", 0)
    given = pairs_of(tmp_path / "d", "across"), "test.method=swap", "test.order=given", OLD
    page, lines = page_of(tmp_path / "d", *given[0], *given[1:])
    assert "p-values may not be valid: the size of the masks changes along the rows" in page
    assert "does no harm" not in page
    page, lines = page_of(tmp_path / "d", *given[0], "test.method=swap")
    assert "swap tests permute the rows, so that this does no harm" in page
    assert not lines[0].startswith("Warning")


# Rows that were never trained.


def test_rows_that_were_never_trained_are_named(tmp_path):
    masks = make(tmp_path / "0", "uniform")
    masks[[3, 90, 400]] = False
    np.save(tmp_path / "0" / "masks.npy", masks)
    with pytest.raises(BadInputError, match="masks without any image, in rows 3, 90, 400: were these models trained"):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "across"))


def test_rows_that_are_not_completed_are_left_out(tmp_path):
    """The same result as without them, whatever stands in them."""
    masks = make(tmp_path / "0", "uniform")
    margins = np.load(tmp_path / "0" / "margins.npy")
    design = pairs_of(tmp_path / "0", "across")
    expected, _ = run(tmp_path / "0", *design)
    places = np.sort(np.random.default_rng(0).choice(ROWS + 40, 40, replace=False))
    completed = np.ones(ROWS + 40, bool)
    completed[places] = False
    whole = np.zeros((ROWS + 40, IMAGES), bool), np.full((ROWS + 40, TARGETS), np.nan, np.float32)
    for array, values in zip(whole, (masks, margins), strict=True):
        array[completed] = values
    np.save(tmp_path / "0" / "masks.npy", whole[0])
    np.save(tmp_path / "0" / "margins.npy", whole[1])
    np.save(tmp_path / "0" / "_completed.npy", completed)
    said = []
    found, _ = run(tmp_path / "0", *design, say=said.append)
    assert any("40 models are not completed" in line for line in said)
    np.testing.assert_array_equal(found["pvalue"], expected["pvalue"])


@pytest.mark.parametrize("completed", (np.ones(3, bool), np.full(ROWS, 0.5), np.full(ROWS, 2)))
def test_a_bad_vector_of_completed_rows(tmp_path, completed):
    make(tmp_path / "0", "uniform")
    np.save(tmp_path / "0" / "_completed.npy", completed)
    with pytest.raises(BadInputError, match=f"_completed.npy must hold {ROWS} booleans, one per mask"):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "across"))
