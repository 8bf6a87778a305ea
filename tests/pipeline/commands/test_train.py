"""`train`: the folder it makes, which images and laws, and what it refuses."""

import json
import shlex

import numpy as np
import pytest
from command_here import call, ok
from places import MINI
from small_cifar10 import Small

from datamodels_inf import check_exchangeable
from datamodels_inf.masks import PackedMasks
from pipeline.images.find import get_images
from pipeline.images.image_set import ImageSet, load_digits

TINY = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)


def test_train_then_run_on_it(tmp_path):
    done = call(tmp_path, "train", "--out", "set", *TINY)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "set").iterdir()) == [
        "images.npz",
        "manifest.json",
        "margins.npy",
        "masks.npy",
    ]
    settings = (
        "source.kind=files",
        "source.folder=set",
        "source.fit_rows=600",
        "source.held_out_rows=500",
        "test.repeats=2",
    )
    arguments = [word for s in settings for word in ("--set", s)]
    ok(tmp_path, "run", *arguments)
    again = call(tmp_path, "train", "--out", "set", *TINY)
    assert again.returncode == 0
    other = call(tmp_path, "train", "--out", "set", *TINY, "--seed", 1)
    assert other.returncode == 2
    assert "made with other settings" in other.stderr


@pytest.mark.parametrize(("models", "command"), ((6, "run"), (40, "init")))
def test_the_command_that_it_ends_with_works_as_it_stands(tmp_path, models, command):
    output = ok(tmp_path, "train", "--out", "a set", *TINY, "--models", models, "--workers", 1, "--quiet")
    said, words = output.splitlines()[-1].split(": ", 1)
    program, *arguments = shlex.split(words)
    assert (said, program, arguments[0]) == ("Use them", "datamodels-inf", command)
    if command == "init":
        assert arguments[1:] == ["a set"]
        *_, arguments = (shlex.split(word) for word in ok(tmp_path, *arguments).strip().split("Next: datamodels-inf "))
    ok(tmp_path, *arguments, "--quiet")
    assert (
        json.loads(next((tmp_path / "reports").glob("*/report.json")).read_text())["methods"][0]["method"] == "contrast"
    )


def test_five_models_cannot_be_fitted_and_tested(tmp_path):
    assert "Use them" not in ok(tmp_path, "train", "--out", "set", *TINY, "--models", 5, "--workers", 1, "--quiet")


def test_bernoulli_masks_and_softmax(tmp_path):
    done = call(
        tmp_path,
        "train",
        "--out",
        "set",
        *TINY,
        "--architecture",
        "softmax",
        "--law",
        "bernoulli",
        "--proportion",
        0.3,
        "--workers",
        1,
    )
    assert done.returncode == 0, done.stderr
    masks = PackedMasks(np.load(tmp_path / "set" / "masks.npy"), 40)
    sums = masks.row_sums()
    assert sums.min() < sums.max()
    assert sums.mean() == pytest.approx(12, abs=0.5)


@pytest.mark.skipif(not MINI.exists(), reason="the CIFAR-10 sample beside the project is not there")
def test_cifar10_images(tmp_path):
    size = ("--train", 50, "--targets", 10, "--models", 4, "--steps", 3, "--hidden", 2)
    done = call(tmp_path, "train", "--dataset", "cifar10", "--images", MINI, "--out", "set", *size)
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "set" / "margins.npy").shape == (4, 10)
    images = ImageSet.load(tmp_path / "set" / "images.npz")
    assert images.train.shape == (50, 32, 32, 3)
    assert "dog" in images.class_names


@pytest.mark.skipif(not MINI.exists(), reason="the CIFAR-10 sample beside the project is not there")
@pytest.mark.parametrize("law", ("fixed-size", "bernoulli"))
def test_masks_of_a_cifar10_training_pass_the_check(tmp_path, law):
    size = ("--train", 200, "--targets", 10, "--models", 400, "--steps", 1, "--architecture", "softmax", "--law", law)
    done = call(tmp_path, "train", "--dataset", "cifar10", "--images", MINI, "--out", "set", *size)
    assert done.returncode == 0, done.stderr
    masks = PackedMasks(np.load(tmp_path / "set" / "masks.npy"), 200)
    labels = ImageSet.load(tmp_path / "set" / "images.npz").train_labels
    report = check_exchangeable(masks[100:], labels=labels, fit_masks=masks[:100])
    assert (report.law, report.ok) == (law, True)


@pytest.mark.parametrize(("arguments", "part"), [
    (("--train", 45), "--train 45 cannot be split evenly"),
    (("--hidden", 0), "Invalid value for '--hidden'"),
    (("--learning-rate", -1), "train.learning_rate = -1.0: input should be greater than 0"),
    (("--proportion", 1.5), "--proportion 1.5 must lie strictly between 0 and 1"),
    (("--dataset", "cifar10"), "needs --images"),
    (("--images", "x"), "--images is for CIFAR-10"),
    (("--dataset", "cifar10", "--images", "nowhere"), "nowhere"),
    (("--dataset", "cifar10", "--images", "nope.npz"),
     "--images nope.npz does not exist; get the images into data/images/cifar10.npz with datamodels-inf images."),
])  # fmt: skip
def test_bad_input(tmp_path, arguments, part):
    done = call(tmp_path, "train", "--out", "set", *arguments)
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "set").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "thesis.tex").write_text("precious")
    done = call(tmp_path, "train", "--out", "set", *TINY)
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [p.name for p in (tmp_path / "set").iterdir()] == ["thesis.tex"]


@pytest.fixture
def stored(tmp_path):
    """A folder whose store has a small CIFAR-10, as `images` leaves it, beside the copy that it was made of."""
    small = Small(tmp_path)
    get_images(
        tmp_path / "data" / "images", path=small.folder, say=lambda line: None, quiet=True, known=small.known
    )  # fmt: skip
    return tmp_path


def test_what_images_made_is_taken_by_name_and_without_one(stored):
    size = ("--dataset", "cifar10", "--train", 12, "--targets", 4, "--models", 4, "--steps", 2, "--hidden", 2)
    places = {"by folder": ("--images", "cifar-10-batches-py"), "by name": ("--images", "data/images/cifar10.npz")}
    for name, words in {**places, "unnamed": ()}.items():
        done = call(stored, "train", *size, *words, "--out", name, "--workers", 1)
        assert done.returncode == 0, done.stderr
        assert ("images of data/images/cifar10.npz\n" in done.stdout) == (name == "unnamed")
    margins = [np.load(stored / name / "margins.npy") for name in (*places, "unnamed")]
    assert all(np.array_equal(margins[0], other) for other in margins[1:])
    done = call(stored, "train", *size, "--store", "elsewhere", "--out", "none")
    assert done.returncode == 2 and "or get them into elsewhere/images/cifar10.npz with datamodels-inf" in done.stderr


def test_an_image_set_of_other_images_is_no_cifar10(stored):
    load_digits(20, 10).save(stored / "digits.npz")
    done = call(stored, "train", "--dataset", "cifar10", "--images", "digits.npz", "--out", "none", *TINY)
    assert done.returncode == 2
    assert "digits.npz holds images of another size than CIFAR-10's" in done.stderr
