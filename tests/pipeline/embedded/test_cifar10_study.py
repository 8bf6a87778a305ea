"""The models of the CIFAR-10 study are what they say: they can be trained again from what ships, and are whole."""

import json

import numpy as np
import pytest
from trained_here import margins_of, one_thread

from datamodels_inf import check_exchangeable
from datamodels_inf.masks import PackedMasks
from pipeline.config_files import load_config
from pipeline.sources.embedded import HOME
from pipeline.store.files import file_digest
from pipeline.training.inputs import Features
from pipeline.training.trained_set import TrainedSet
from pipeline.training.work import Models

__all__ = ["one_thread"]

STUDY = HOME / "cifar10-study"
LARGEST = 12_000_000


@pytest.fixture(scope="module")
def trained():
    return TrainedSet.of(load_config("cifar10-study", []), "this test")


@pytest.fixture(scope="module")
def margins(trained):
    with np.load(STUDY / "margins.npz") as arrays:
        return arrays["multiples"].T * trained.job.margin_step


@pytest.mark.parametrize("start", (0, 15_360, 30_992))
def test_some_models_trained_again_have_the_margins_that_ship(one_thread, trained, margins, start):
    """From features, no image is needed; margins are kept in steps, so that they agree to half a step."""
    job = trained.job
    unit = Models(job.seed, start, start + 8)
    bits = np.load(STUDY / "masks.npy")[start : start + 8]
    np.testing.assert_array_equal(PackedMasks(bits, job.n_train).to_bool(), unit.masks(job))
    again = margins_of(job, trained.inputs_file, unit)
    # Another processor may round sums differently.
    np.testing.assert_allclose(again, margins[start : start + 8], atol=job.margin_step / 2 + 0.02)
    assert np.std(again - margins[start : start + 8]) == pytest.approx(job.margin_step / 12**0.5, rel=0.1)


def test_the_set_is_what_the_study_asks_for(trained, margins):
    job, features = trained.job, Features.load(STUDY / "features.npz")
    assert job == TrainedSet.of(load_config("cifar10-study", []), "this test").job
    assert margins.shape == (job.n_models, job.n_targets) and job.n_models >= 20_000
    labels = features.labels
    counts = np.bincount(labels.train_labels, minlength=10)
    assert len(set(counts.tolist())) == 1 and counts.sum() == job.n_train
    dog = labels.class_names.index("dog")
    targets = np.bincount(labels.target_labels, minlength=10)
    assert targets[dog] >= 100 and targets.min() >= 10 and targets.sum() >= 200
    assert len(np.unique(features.train_numbers)) == job.n_train and features.train_numbers.max() < 40_000


def test_what_ships_is_whole_small_and_without_images():
    manifest = json.loads((STUDY / "manifest.json").read_text())
    files = {path.name: path for path in STUDY.iterdir()}
    assert set(files) == {"manifest.json", *manifest["sha256"]}
    assert "images.npz" not in files
    for name, digest in manifest["sha256"].items():
        assert file_digest(files[name]) == digest
    assert sum(path.stat().st_size for path in files.values()) <= LARGEST


def test_the_job_is_that_of_the_configuration(trained):
    """Whoever runs `train --config cifar10-study` makes this very set."""
    train, job = load_config("cifar10-study", []).train, trained.job
    assert (job.dataset, job.n_models, job.seed, job.margin_step) == (
        train.dataset, train.n_models, train.seed, train.margin_step,
    )  # fmt: skip
    for name in ("architecture", "hidden", "steps", "learning_rate", "weight_decay", "decay", "last_layer"):
        assert getattr(job.recipe, name) == getattr(train, name)


def test_its_masks_pass_the_check(trained):
    masks = PackedMasks(np.load(STUDY / "masks.npy"), trained.job.n_train)
    labels = Features.load(STUDY / "features.npz").labels.train_labels
    report = check_exchangeable(masks[-4000:], labels=labels, fit_masks=masks[:5000])
    assert (report.law, report.reasons) == ("fixed-size", ())
