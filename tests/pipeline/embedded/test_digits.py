"""The embedded set is what it says: it can be trained again, is whole, and keeps the premise."""

import json

import numpy as np
import pytest
from trained_here import margins_of, one_thread

from datamodels_inf import check_exchangeable
from datamodels_inf.masks import PackedMasks
from pipeline.images.image_set import ImageSet, load_digits
from pipeline.sources.embedded import FOLDER as EMBEDDED
from pipeline.store.files import file_digest
from pipeline.training.inputs import Inputs
from pipeline.training.job import Job
from pipeline.training.work import Models

__all__ = ["one_thread"]


@pytest.mark.parametrize("start", (0, 5_984, 11_968))
def test_the_embedded_set_can_be_trained_again(one_thread, start):
    """Some of its models, retrained from the manifest alone, have the margins that ship."""
    job = Job.of_json(json.loads((EMBEDDED / "manifest.json").read_text())["job"])
    unit = Models(job.seed, start, start + 32)
    inputs = Inputs.of_pixels(load_digits(job.n_train, job.n_targets))
    again = margins_of(job, inputs, unit).astype(np.float16)
    shipped = np.load(EMBEDDED / "margins.npy")[start : start + 32]
    # Bit for bit on the machine that made it; another processor may round sums differently.
    np.testing.assert_allclose(again.astype(float), shipped.astype(float), atol=0.05)
    bits = np.load(EMBEDDED / "masks.npy")[start : start + 32]
    np.testing.assert_array_equal(PackedMasks(bits, job.n_train).to_bool(), unit.masks(job))


def test_the_embedded_set_is_large_enough_small_enough_and_whole():
    manifest = json.loads((EMBEDDED / "manifest.json").read_text())
    job = manifest["job"]
    assert job["n_models"] >= 12_000
    assert job["n_targets"] >= 100
    assert sum(path.stat().st_size for path in EMBEDDED.iterdir()) <= 10_000_000
    for name, digest in manifest["sha256"].items():
        assert file_digest(EMBEDDED / name) == digest
    images, digits = ImageSet.load(EMBEDDED / "images.npz"), load_digits(job["n_train"], job["n_targets"])
    np.testing.assert_array_equal(images.train, digits.train)
    np.testing.assert_array_equal(images.target_labels, digits.target_labels)


@pytest.mark.parametrize("rows", (4000, 1000))
def test_the_embedded_masks_pass_the_check(rows):
    masks = PackedMasks(np.load(EMBEDDED / "masks.npy"), 400)
    labels = ImageSet.load(EMBEDDED / "images.npz").train_labels
    report = check_exchangeable(masks[-rows:], labels=labels, fit_masks=masks[:-rows])
    assert (report.law, report.reasons) == ("fixed-size", ())
