"""The download stage: images and labels must be those of the masks and margins."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from command_here import call, ok
from own_folders import law, write
from released_layout import FILES, released
from small_cifar10 import Small

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.image_set import ImageSet, Labels
from pipeline.sources.cifar10_images import stored_images
from pipeline.stages.download import agreed_labels, keep_images, stale
from pipeline.store.cache import Result


@pytest.fixture
def folder(tmp_path):
    released(tmp_path / "cifar")
    return tmp_path


def refusal(folder, *settings):
    done = call(folder, "download", *FILES, *(word for s in settings for word in ("--set", s)))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert not list(folder.glob("data/download/[0-9a-f]*"))
    return done.stderr


def test_images_of_another_data_set_are_refused(folder):
    images = ImageSet.load(folder / "cifar" / "images.npz")
    fewer = ImageSet(images.train[:20], images.train_labels[:20], images.targets, images.target_labels, ("cat", "dog"))
    fewer.save(folder / "fewer.npz")
    said = refusal(folder, "source.images=fewer.npz")
    assert "fewer.npz has 20 training and 8 target images, but masks and outcomes are of 24 and 8" in said


def test_labels_of_another_data_set_are_refused(folder):
    Labels(np.zeros(24, np.int64), np.zeros(7, np.int64), ("cat",)).save(folder / "labels.npz")
    (folder / "cifar" / "images.npz").unlink()
    without = [word for word in FILES if not word.startswith("source.images")]
    del without[without.index("--set", 4)]
    done = call(folder, "download", *without, "--set", "source.labels=labels.npz")
    assert done.returncode == 2
    assert "labels.npz has 24 training and 7 target images, but masks and outcomes are of 24 and 8" in done.stderr
    assert (
        "nowhere.npz does not exist" in call(folder, "download", *without, "--set", "source.labels=nowhere.npz").stderr
    )


def test_labels_of_images_are_kept_beside_them(folder):
    ok(folder, "download", *FILES)
    (stage,) = folder.glob("data/download/[0-9a-f]*")
    images = ImageSet.load(folder / "cifar" / "images.npz")
    assert (stage / "images.npz").read_bytes() == (folder / "cifar" / "images.npz").read_bytes()
    labels = Labels.load(stage / "labels.npz")
    np.testing.assert_array_equal(labels.train_labels, images.train_labels)
    assert labels.class_names == ("cat", "dog")


def test_only_what_waits_for_images_is_made_again_when_they_come(tmp_path):
    def result(**more):
        rows = {"n_models": 6, "n_train": 3, "n_targets": 1, "masks_file": "m", "margins_file": "n"}
        return Result(tmp_path, {"summary": {**rows, "fit": (0, 3), "held_out": (3, 6), **more}})

    waiting = result(has_images=False, awaits_images=True)
    assert stale(waiting, tmp_path) == ""
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "cifar10.npz").touch()
    assert stale(waiting, tmp_path).startswith("it was made without images, and now there is")
    assert stale(result(has_images=False), tmp_path) == stale(result(has_images=True), tmp_path) == ""


def test_labels_that_are_named_go_before_those_of_the_images(folder):
    """The law of the masks is judged by them: ignoring them would let stratified masks pass for others."""
    other = Labels(np.arange(24) % 3, np.arange(8) % 3, ("a", "b", "c"))
    other.save(folder / "labels.npz")
    ok(folder, "download", *FILES, "--set", "source.labels=labels.npz")
    (stage,) = folder.glob("data/download/[0-9a-f]*")
    assert Labels.load(stage / "labels.npz").class_names == ("a", "b", "c")


def test_images_and_labels_of_a_source_must_agree(folder):
    images = ImageSet.load(folder / "cifar" / "images.npz")
    same = Labels(images.train_labels, images.target_labels, images.class_names)
    other = Labels(1 - images.train_labels, images.target_labels, images.class_names)
    assert agreed_labels(images, None) is not None and agreed_labels(None, other) is other
    assert agreed_labels(images, same).class_names == images.class_names
    with pytest.raises(BadInputError, match="other classes than its labels"):
        agreed_labels(images, other)


def test_all_of_cifar10_is_linked_and_anything_else_is_written(folder):
    """The store has the very file that would be written, and compressing 50,000 images again takes seconds."""
    images = ImageSet.load(folder / "cifar" / "images.npz")
    stored = stored_images(folder)
    stored.parent.mkdir()
    images.save(stored)
    for found, links in ((stored, 2), (folder / "cifar" / "images.npz", 1), (images, 1)):
        out = folder / f"out-{links}-{type(found).__name__}"
        out.mkdir(exist_ok=True)
        keep_images(images, found, SimpleNamespace(store=folder, out=out, quiet=True))
        assert (out / "images.npz").read_bytes() == stored.read_bytes()
        assert (out / "images.npz").stat().st_nlink == links
        (out / "images.npz").unlink()


def test_a_copy_of_other_classes_than_the_folder_says_is_refused_by_the_stage(tmp_path):
    """40 of CIFAR-10's first images, as its own batches have them, under labels of the folder."""
    made = Small(tmp_path)
    labels = made.labels[0, :40].tolist(), made.labels[5, :5].tolist()
    named = [[CLASS_NAMES[k] for k in part] for part in labels]
    masks, outcomes = law()
    rows = "source.fit_rows=300", "source.held_out_rows=300"
    settings = ("source.kind=files", "source.folder=own", f"source.images={made.folder}", *rows)
    words = [word for setting in settings for word in ("--set", setting)]
    write(tmp_path / "own", outcomes, {"train_labels": named[0], "target_labels": named[1]}, masks=masks)
    ok(tmp_path, "download", *words)
    said = json.dumps({"train_labels": named[0][::-1], "target_labels": named[1]})
    (tmp_path / "own" / "subsets.json").write_text(said)
    done = call(tmp_path, "download", *words)
    assert done.returncode == 2
    assert "the images of the source are of other classes than its labels say; mend one" in done.stderr
