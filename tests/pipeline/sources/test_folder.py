"""A folder of masks and margins: its key, its rows, its precision."""

import time

import numpy as np
import pytest
from command_here import ok
from masks_of_people import IMAGES, ROWS, TARGETS, TOP, make, pairs_of, run
from real_command import states
from released_layout import FILES, released

from pipeline.errors import BadInputError


def test_the_key_is_of_the_content_not_of_its_place(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "download", *FILES)
    (tmp_path / "cifar").rename(tmp_path / "moved")
    moved = [word.replace("cifar", "moved") for word in FILES]
    assert states(ok(tmp_path, "download", *moved))["download"] == "cached"
    images = tmp_path / "moved" / "images.npz"
    from pipeline.images.image_set import ImageSet

    old = ImageSet.load(images)
    ImageSet(255 - old.train, old.train_labels, old.targets, old.target_labels, old.class_names).save(images)
    output = ok(tmp_path, "download", *moved)
    assert states(output)["download"] == "running"
    assert "content of images" in output


def test_wide_margins_keep_their_precision(tmp_path):
    released(tmp_path / "cifar")
    margins = np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy").astype(np.float32) + np.float32(3000.3)
    np.save(tmp_path / "cifar" / "data" / "test_margins_50pct.npy", margins)
    ok(tmp_path, "run", *FILES)
    np.testing.assert_array_equal(np.load(next((tmp_path / "data" / "download").glob("*/margins.npy"))), margins)


def test_a_changed_source_file_is_noticed(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES)
    time.sleep(0.02)
    np.save(
        tmp_path / "cifar" / "data" / "test_margins_50pct.npy",
        np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy") + 1,
    )
    assert states(ok(tmp_path, "run", *FILES))["download"] == "running"


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
