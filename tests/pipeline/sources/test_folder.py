"""A folder of masks and margins: its key is of its content."""

import time

import numpy as np
from command_here import ok
from real_command import states
from released_layout import FILES, released


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


def test_a_changed_source_file_is_noticed(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES)
    time.sleep(0.02)
    np.save(
        tmp_path / "cifar" / "data" / "test_margins_50pct.npy",
        np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy") + 1,
    )
    assert states(ok(tmp_path, "run", *FILES))["download"] == "running"
