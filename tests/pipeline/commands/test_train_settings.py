"""`train` from a configuration: sections, --set and options, where it goes, the study's way, and the help page."""

import re
from functools import partial

import numpy as np
import pytest
from command_here import call, ok
from small_cifar10 import Small

from datamodels_inf.training.recipe import PatchRecipe
from pipeline.commands import train as command
from pipeline.images.find import get_images
from pipeline.training.inputs import Features
from pipeline.training.parts import Parts
from pipeline.training.settings import Train
from pipeline.training.trained_set import TrainedSet

TOML = """
[train]
n_train = 20
n_targets = 10
n_models = 6
steps = 2
hidden = 2
margin_step = 0.5
seed = 3
"""
FAST = ("--workers", 1, "--quiet")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny.toml").write_text(TOML)
    return tmp_path


def job_of(path):
    from pipeline.config_files import load_config

    return TrainedSet.of(load_config("digits", ["source.kind=files", f"source.folder={path}"]), "x").job


def test_the_section_is_trained_into_the_store(folder):
    said = ok(folder, "train", "--config", "tiny.toml", *FAST)
    assert "6 models of 20 images and 10 targets are in data/trained/tiny." in said
    job = job_of(folder / "data" / "trained" / "tiny")
    assert (job.seed, job.margin_step, job.recipe.steps, job.recipe.hidden) == (3, 0.5, 2, 2)
    assert job.recipe.learning_rate == 0.05


def test_options_go_before_overrides_and_these_before_the_section(folder):
    changes = ("--set", "train.steps=3", "--set", "train.hidden=3", "--set", "train.decay=weights", "--steps", 4)
    ok(folder, "train", "--config", "tiny.toml", "--store", "here", *changes, "--learning-rate", 1e-5, *FAST)
    job = job_of(folder / "here" / "trained" / "tiny")
    assert (job.recipe.steps, job.recipe.hidden, job.recipe.decay, job.seed) == (4, 3, "weights", 3)
    assert job.recipe.learning_rate == 1e-5


def test_out_goes_before_the_store(folder):
    ok(folder, "train", "--config", "tiny.toml", "--out", "elsewhere", *FAST)
    assert (folder / "elsewhere" / "manifest.json").is_file()
    assert not (folder / "data").exists()


@pytest.mark.parametrize(("arguments", "part"), [
    ((), "name the folder to make: --out DIR"),
    (("--config", "cifar10"), "--config cifar10 has no section [train]"),
    (("--config", "cifar10", "--models", 6), "--config cifar10 has no section [train]"),
    (("--config", "nothing"), "--config nothing: no configuration of that name"),
    (("--config", "tiny.toml", "--set", "train.epochs=2"), "train.epochs is not a setting"),
    (("--config", "tiny.toml", "--set", "train.balanced=true"), "are for train.dataset 'cifar10'"),
    (("--config", "tiny.toml", "--seed", 2**64), "train.seed = 18446744073709551616"),
    (("--config", "tiny.toml", "--proportion", 0.01), "--proportion 0.01 of 20 images is none or all of them"),
    (("--config", "tiny.toml", "--learning-rate", "inf"), "train.learning_rate = 'Infinity': input should be a finite"),
    (("--dataset", "cifar10", "--images", "2024", "--out", "x"), "2024"),
])  # fmt: skip
def test_what_is_refused(folder, arguments, part):
    done = call(folder, "train", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert part in done.stderr
    assert "valid path" not in done.stderr
    assert [path.name for path in folder.iterdir()] == ["tiny.toml"]


# ---------------------------------------------------------------------------------------- the study's way


SMALL_PATCHES = PatchRecipe(patch=4, n_patches=500, n_images=50, n_centroids=4, rounds=3, n_components=8)
STUDY = """
[train]
dataset = "cifar10"
balanced = true
n_train = 40
n_targets = 11
target_class = "cat"
of_target_class = 2
features = "patches"
n_models = 6
architecture = "mlp"
steps = 2
hidden = 3
decay = "weights"
last_layer = "zero"
margin_step = 0.1
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A CIFAR-10 of 200 training images, of which the last 60 have no label, and features to match."""
    small = Small(tmp_path)
    monkeypatch.setattr(command, "get_images", partial(get_images, known=small.known))
    monkeypatch.setattr(command, "UNLABELLED", 60)
    monkeypatch.setattr(command, "PatchRecipe", lambda: SMALL_PATCHES)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path, small


def test_balanced_images_and_features_from_the_others(study):
    folder, small = study
    ok(folder, "train", "--config", "study.toml", "--images", small.folder, *FAST)
    made = folder / "data" / "trained" / "study"
    features, job = Features.load(made / "features.npz"), job_of(made)
    assert (job.features, job.recipe.last_layer, job.n_targets) == (SMALL_PATCHES, "zero", 11)
    assert (features.train.shape, features.targets.shape) == ((40, 8), (11, 8))
    labels, test_labels = small.labels[:5].ravel(), small.labels[5]
    np.testing.assert_array_equal(labels[features.train_numbers], features.labels.train_labels)
    np.testing.assert_array_equal(test_labels[features.target_numbers], features.labels.target_labels)
    assert features.train_numbers.max() < 140
    assert np.bincount(features.labels.train_labels).tolist() == [4] * 10
    assert np.bincount(features.labels.target_labels).tolist() == [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]
    assert np.load(made / "margins.npz")["multiples"].dtype == np.int8
    again = command.learn_patch_features(
        small.images[:5].reshape(200, 32, 32, 3)[140:], recipe=SMALL_PATCHES, seed=job.seed
    )
    expected = again.of(small.images[5][features.target_numbers])
    np.testing.assert_allclose(features.targets, expected, atol=5e-3, rtol=2e-3)


def test_features_are_made_once(study, monkeypatch):
    """What a killed training left is taken again."""
    folder, small = study
    arguments = ("train", "--config", "study.toml", "--images", small.folder, *FAST)

    def stop(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "train_missing", stop)
        assert call(folder, *arguments).returncode == 130
    kept = (folder / "data" / "trained" / "study" / ".parts" / "features.npz").read_bytes()
    monkeypatch.setattr(command, "learn_patch_features", None)
    ok(folder, *arguments)
    assert (folder / "data" / "trained" / "study" / "features.npz").read_bytes() == kept


def test_more_images_than_there_are_beside_the_unlabelled_are_refused(study):
    folder, small = study
    done = call(folder, "train", "--config", "study.toml", "--images", small.folder, "--train", 140)
    assert done.returncode == 2
    assert "train.n_train asks for more images of a class than there are" in done.stderr


# --------------------------------------------------------------------------------------------- the help page


def test_the_help_says_the_defaults_under_headings(tmp_path):
    page = " ".join(ok(tmp_path, "train", "--help").split())
    defaults, (mlp, convnet) = Train(), command.RECIPES.values()
    said = dict(re.findall(r"--([a-z-]+)(?: [A-Z]| \[)(?:(?! --).)*?\[default: ([^\]]*)\]", page))
    assert said["models"] == str(defaults.n_models)
    assert said["train"] == f"{defaults.n_train}; at least 2"
    assert said["targets"] == str(defaults.n_targets)
    assert (said["dataset"], said["law"], said["seed"]) == (defaults.dataset, defaults.law, str(defaults.seed))
    assert said["proportion"] == str(defaults.proportion)
    for name in ("architecture", "hidden", "steps", "learning_rate"):
        assert said[name.replace("_", "-")] == f"{getattr(mlp, name)}, or {getattr(convnet, name)}"
    assert mlp.weight_decay == convnet.weight_decay == float(said["weight-decay"])
    assert (mlp.batch_size, said["batch-size"]) == (None, f"the whole subset, or {convnet.batch_size}")
    places = [
        page.index(heading) for heading in ("What is trained", "Images and subsets", "Networks", "How it is done")
    ]
    assert places == sorted(places)
