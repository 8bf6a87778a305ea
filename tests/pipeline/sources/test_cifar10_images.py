"""Images of CIFAR-10 for a set that knows them by number: from a copy, from the store, later, or not at all."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_here import call, ok
from numbered_set import TARGETS, made_once, make_set, nowhere, settings, small
from real_command import states

from pipeline.images.find import get_images
from pipeline.images.image_set import ImageSet, Labels, load_cifar10
from pipeline.sources.cifar10_images import stored_images
from pipeline.text.sealed_json import sealed
from pipeline.training.inputs import Features

__all__ = ["made_once", "nowhere", "small"]

pytestmark = pytest.mark.usefixtures("nowhere")


@pytest.fixture
def made(made_once, tmp_path):
    shutil.copytree(made_once, tmp_path / "set")
    return tmp_path


@pytest.fixture
def wanted(small, made_once):
    """The images of the set, by a way of its own."""
    features = Features.load(made_once / "features.npz")
    train = small.images[:5].reshape(-1, 32, 32, 3)[features.train_numbers]
    return ImageSet(train, features.labels.train_labels, small.images[5][TARGETS], features.labels.target_labels,
                    features.labels.class_names)  # fmt: skip


def stage_folder(folder):
    (stage,) = folder.glob("data/download/[0-9a-f]*")
    return stage


def assert_there(folder, wanted):
    found = ImageSet.load(stage_folder(folder) / "images.npz")
    np.testing.assert_array_equal(found.train, wanted.train)
    np.testing.assert_array_equal(found.targets, wanted.targets)
    np.testing.assert_array_equal(found.target_labels, wanted.target_labels)
    assert found.class_names == wanted.class_names


def test_a_run_does_without_images_until_they_come(made, wanted, small):
    words = settings("set", wanted)
    output = ok(made, "run", *words)
    (line,) = (line for line in output.splitlines() if "without images" in line)
    assert "with grey tiles: CIFAR-10 could not be had (http://127.0.0.1:1/" in line
    assert "name that file with datamodels-inf images --path PATH. Then run again." in line
    assert not (stage_folder(made) / "images.npz").exists()
    labels = Labels.load(stage_folder(made) / "labels.npz")
    np.testing.assert_array_equal(labels.train_labels, wanted.train_labels)
    page = made / "reports" / "digits" / "index.html"
    assert "grey tiles stand in for them" in page.read_text()
    assert set(states(ok(made, "run", *words)).values()) == {"cached"}

    ok(made, "images", "--path", small.folder)
    why = "it was made without images, and now there is data/images/cifar10.npz"
    expected = {line.split()[0]: line for line in ok(made, "status", *words).splitlines()}
    assert f"would run: {why}" in expected["download"]
    assert expected["report"].endswith("would run: download will not be what it was")
    assert all("cached, " in expected[stage] for stage in ("fit", "test"))
    ok(made, "compare", *words)  # What is finished can still be read.
    output = ok(made, "run", *words)
    assert f"download  running  {why}" in output
    assert {name for name, state in states(output).items() if state == "running"} == {"download", "report"}
    assert_there(made, wanted)
    assert "grey tiles stand in for them" not in page.read_text()
    assert set(states(ok(made, "run", *words)).values()) == {"cached"}
    ok(made, "compare", *words)


def test_the_report_with_late_images_is_that_with_early_ones(made, wanted, small):
    words = settings("set", wanted)
    ok(made, "run", *words)
    for store in ("data", "early"):
        ok(made, "images", "--path", small.folder, "--store", store)
        ok(made, "run", *words, "--store", store, "--reports", f"reports of {store}")
    late, early = (made / f"reports of {store}" / "digits" for store in ("data", "early"))
    for name in ("tests.csv", "datamodels.csv"):
        assert (late / name).read_bytes() == (early / name).read_bytes()


def copies(folder, small, wanted):
    whole = load_cifar10(small.folder)
    whole.save(folder / "cifar10.npz")
    wanted.save(folder / "its own.npz")
    return {"folder": small.folder, "npz": "cifar10.npz", "its own": "its own.npz"}


@pytest.mark.parametrize("form", ("folder", "npz", "its own"))
def test_a_copy_that_the_user_names_is_taken(made, wanted, small, form):
    copy = copies(made, small, wanted)[form]
    output = ok(made, "download", *settings("set", wanted), "--set", f"source.images={copy}")
    assert "without images" not in output
    assert_there(made, wanted)
    assert not stored_images(made / "data").exists()
    features = Features.load(made / "set" / "features.npz")
    assert len(features.train_numbers) == len(ImageSet.load(stage_folder(made) / "images.npz").train)


@pytest.mark.parametrize("change", ("pixel", "order", "fewer"))
def test_a_copy_of_other_images_is_refused(made, wanted, small, change):
    whole = load_cifar10(small.folder)
    train, targets = np.arange(len(whole.train)), np.arange(len(whole.targets))
    other = {
        "pixel": whole,
        "order": whole.chosen(train[::-1], targets),
        "fewer": whole.chosen(train[:30], targets),
    }[change]
    if change == "pixel":
        whole.targets[TARGETS[0], 5, 5, 0] ^= 1
    other.save(made / "other.npz")
    done = call(made, "download", *settings("set", wanted), "--set", "source.images=other.npz")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "other.npz does not hold the images that the models of this set were trained on" in done.stderr
    assert not list(made.glob("data/download/[0-9a-f]*"))


def test_a_set_of_other_images_than_its_numbers_say_has_grey_tiles_for_good(made, wanted, small):
    manifest = made / "set" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["job"]["images_sha256"] = "0" * 64
    manifest.write_text(json.dumps(sealed(content)) + "\n")
    ok(made, "images", "--path", small.folder)
    output = ok(made, "download", *settings("set", wanted))
    assert output.count("without images, with grey tiles") == 1
    assert "cifar10.npz does not hold the images that the models of this set were trained on" in output
    assert states(ok(made, "download", *settings("set", wanted)))["download"] == "cached"


def test_features_without_numbers_need_images_of_their_own(tmp_path, small, wanted):
    folder = make_set(tmp_path / "set", load_cifar10(small.folder), numbered=False)
    assert (folder / "images.npz").is_file()
    ok(tmp_path, "download", *settings("set", wanted))
    assert_there(tmp_path, wanted)
    shutil.rmtree(tmp_path / "data")
    (folder / "images.npz").unlink()
    output = ok(tmp_path, "download", *settings("set", wanted))
    assert "without images, with grey tiles: set/features.npz does not say which images it is of." in output


def test_a_dry_run_fetches_no_images(made, wanted):
    output = ok(made, "download", *settings("set", wanted), "--dry-run")
    assert output.endswith("dry run: the images of CIFAR-10, 170 MB, were not fetched.\n")
    assert not list(made.glob("data/download/[0-9a-f]*"))


def test_another_store_is_named_in_what_to_do(made, wanted):
    output = ok(made, "download", *settings("set", wanted), "--store", "elsewhere")
    assert "--path PATH. Then run again, both with --store elsewhere." in output


def test_what_the_store_has_is_what_images_makes(tmp_path, small):
    made = get_images(tmp_path / "images", path=Path(small.folder), say=lambda line: None, quiet=True)
    assert stored_images(tmp_path) == made
