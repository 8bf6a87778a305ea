"""What models need is kept once, for all, and is mended where that is possible."""

import hashlib
import shutil
from dataclasses import replace

import numpy as np
import pytest
from small_cifar10 import refusal
from small_features import FEATURES

from datamodels_inf.training.recipe import PatchRecipe, Recipe
from pipeline.images.image_set import ImageSet, load_digits
from pipeline.training.function_job import FunctionJob
from pipeline.training.function_work import FunctionTraining
from pipeline.training.inputs import images_digest
from pipeline.training.job import Job
from pipeline.training.supplies import Images, OwnItems, check_kept, kept_files, take_kept
from pipeline.training.work import Training

IMAGES = load_digits(40, 20)
JOB = Job("digits", 40, 20, images_digest(IMAGES), 12, Recipe(hidden=4), 5, 0.5, "fixed-size")


def test_images_are_kept_and_damaged_ones_written_anew(tmp_path):
    supplies, path = Images(JOB, IMAGES), tmp_path / "images.npz"
    assert supplies.keep(tmp_path) == Training(JOB, path)
    whole, written = path.read_bytes(), path.stat().st_mtime_ns
    supplies.keep(tmp_path)
    assert path.stat().st_mtime_ns == written
    check_kept(JOB, tmp_path)
    for damaged in (whole[:-30], b""):
        path.write_bytes(damaged)
        assert "images.npz is missing or damaged; run one of its shards again" in refusal(check_kept, JOB, tmp_path)
        supplies.keep(tmp_path)
        assert path.read_bytes() == whole
    load_digits(40, 30).save(path)
    assert "is missing or damaged" in refusal(check_kept, JOB, tmp_path)


@pytest.mark.parametrize("numbered", (True, False))
def test_features_are_made_once_and_kept_whoever_made_them(tmp_path, numbered):
    numbers = {} if numbered else {"train_numbers": np.zeros(0, np.int64), "target_numbers": np.zeros(0, np.int64)}
    features, asked = replace(FEATURES, **numbers), []
    images = ImageSet(
        np.zeros((6, 8, 8), np.uint8), FEATURES.labels.train_labels, np.zeros((4, 8, 8), np.uint8),
        FEATURES.labels.target_labels, FEATURES.labels.class_names,
    )  # fmt: skip
    job = replace(JOB, n_train=6, n_targets=4, images_sha256=images_digest(images), features=PatchRecipe())

    def make():
        asked.append(1)
        return features

    for _ in range(2):
        assert Images(job, images, make).keep(tmp_path) == Training(job, tmp_path / "features.npz")
    assert asked == [1]
    assert kept_files(job, tmp_path) == ["features.npz", *([] if numbered else ["images.npz"])]
    assert (tmp_path / "images.npz").exists() != numbered
    check_kept(job, tmp_path)


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_damaged_features_are_made_again_as_they_were_or_not_at_all(tmp_path):
    """A bit of them would be in every margin; models that are trained have seen those that were there."""
    job, path = replace(JOB, n_train=6, n_targets=4, features=PatchRecipe()), tmp_path / ".parts" / "features.npz"
    path.parent.mkdir()
    supplies = Images(job, IMAGES, lambda: FEATURES)
    supplies.keep(path.parent)
    whole = path.read_bytes()
    for place in (200, len(whole) // 2, -1):
        flip(path, place)
        assert "features.npz is missing or damaged" in refusal(check_kept, job, path.parent)
        supplies.keep(path.parent)
        assert path.read_bytes() == whole
        check_kept(job, path.parent)
    others = Images(job, IMAGES, lambda: replace(FEATURES, train=FEATURES.train + np.float16(1)))
    (path.parent / "000000000.npz").touch()
    flip(path, 200)
    assert "made again it is not what it was" in refusal(others.keep, path.parent)
    supplies.keep(path.parent)
    (path.parent / "000000000.npz").unlink()
    path.unlink()
    others.keep(path.parent)
    check_kept(job, path.parent)


def test_features_of_another_job_are_not_those_of_this_one(tmp_path):
    jobs = [replace(JOB, n_train=6, n_targets=4, features=PatchRecipe(), seed=seed) for seed in (5, 6)]
    for job in jobs:
        folder = tmp_path / str(job.seed) / ".parts"
        folder.mkdir(parents=True)
        Images(job, IMAGES, lambda: FEATURES).keep(folder)
    for name in ("features.npz", "features.sha256"):
        shutil.copy(tmp_path / "6" / ".parts" / name, tmp_path / "5" / ".parts" / name)
    assert "is missing or damaged" in refusal(check_kept, jobs[0], tmp_path / "5" / ".parts")
    take_kept(jobs[1], tmp_path / "6" / ".parts", tmp_path / "5" / ".parts")
    check_kept(jobs[1], tmp_path / "5" / ".parts")


def test_features_of_an_earlier_version_are_kept_and_noted(tmp_path):
    job, path = replace(JOB, n_train=6, n_targets=4, features=PatchRecipe()), tmp_path / "features.npz"
    FEATURES.save(path)
    Images(job, IMAGES, lambda: pytest.fail("made")).keep(tmp_path)
    flip(path, 200)
    assert "is missing or damaged" in refusal(check_kept, job, tmp_path)


def test_files_of_a_functions_items_are_kept_and_mended(tmp_path):
    files = {"subsets.json": b"{}", "labels.npz": b"some labels"}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    job = FunctionJob("mine:train_one", "0" * 64, 40, 5, 30, 7, 0.5, "fixed-size", digests)
    supplies = OwnItems(FunctionTraining(job, tmp_path / "code"), files)
    assert supplies.keep(tmp_path) == FunctionTraining(job, tmp_path / "code")
    assert kept_files(job, tmp_path) == ["subsets.json", "labels.npz"]
    check_kept(job, tmp_path)
    written = (tmp_path / "subsets.json").stat().st_mtime_ns
    (tmp_path / "labels.npz").write_bytes(b"some label")
    assert "labels.npz is missing or damaged; run one of its shards again" in refusal(check_kept, job, tmp_path)
    supplies.keep(tmp_path)
    check_kept(job, tmp_path)
    assert (tmp_path / "subsets.json").stat().st_mtime_ns == written
