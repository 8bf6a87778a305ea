"""`datamodels-inf train`: the folder it makes, that it goes on, and that the embedded set is what it says."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from datamodels_inf import check_exchangeable
from datamodels_inf.masks import PackedMasks
from datamodels_inf.training.train import Recipe, draw_masks
from pipeline.commands.training_job import Job, train_chunk
from pipeline.images.image_set import ImageSet, load_digits
from pipeline.sources.embedded import FOLDER as EMBEDDED
from pipeline.store.cache import file_digest

COMMAND = [sys.executable, "-c", "from pipeline.cli import main; main()"]
# The command, which also says how many chunks it trains.
COUNTING = """
import pipeline.commands.training_job as t
train = t._train
t._train = lambda job, images, starts, workers: print("chunks", len(starts)) or train(job, images, starts, workers)
from pipeline.cli import main
main()
"""
TINY = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)
MINI = Path(__file__).parent.parent.parent / "shared" / "cifar10-mini"


def call(folder, *arguments):
    return subprocess.run(
        [*COMMAND, "train", *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder
    )


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("start", (0, 5_984, 11_968))
def test_the_embedded_set_can_be_trained_again(one_thread, start):
    """Some of its models, retrained from the manifest alone, have the margins that ship."""
    job = json.loads((EMBEDDED / "manifest.json").read_text())["job"]
    recipe = Recipe(**job.pop("recipe"))
    images = load_digits(job["n_train"], job["n_targets"])
    again = train_chunk(Job(recipe=recipe, **job), images, start, count=32)
    shipped = np.load(EMBEDDED / "margins.npy")[start : start + 32]
    # Bit for bit on the machine that made it; another processor may round sums differently.
    np.testing.assert_allclose(again.astype(float), shipped.astype(float), atol=0.05)
    masks = draw_masks(job["n_train"], start, start + 32, seed=job["seed"], proportion=0.5, law=job["law"])
    bits = np.load(EMBEDDED / "masks.npy")[start : start + 32]
    np.testing.assert_array_equal(PackedMasks(bits, job["n_train"]).to_bool(), masks)


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


def test_train_then_run_on_it(tmp_path):
    done = call(tmp_path, "--out", "set", *TINY)
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
    run = subprocess.run([*COMMAND, "run", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")
    again = call(tmp_path, "--out", "set", *TINY)
    assert again.returncode == 0
    other = call(tmp_path, "--out", "set", *TINY, "--seed", 1)
    assert other.returncode == 2
    assert "made with other settings" in other.stderr


def test_a_killed_training_goes_on_and_workers_change_nothing(tmp_path):
    assert call(tmp_path, "--out", "whole", *TINY, "--workers", 1).returncode == 0
    process = subprocess.Popen(
        [*COMMAND, "train", "--out", "cut", *map(str, TINY), "--workers", "2"], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("cut/.parts/0*.npy")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("cut/.parts/0*.npy")}
    assert kept or (tmp_path / "cut" / "manifest.json").exists()
    again = subprocess.run(
        [*COMMAND[:2], COUNTING, "train", "--out", "cut", *map(str, TINY), "--workers", "2"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[0] == f"chunks {3 - len(kept)}"
    for name in ("masks.npy", "margins.npy", "images.npz", "manifest.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_bernoulli_masks_and_softmax(tmp_path):
    done = call(tmp_path, "--out", "set", *TINY, "--architecture", "softmax", "--law", "bernoulli", "--proportion", 0.3)
    assert done.returncode == 0, done.stderr
    masks = PackedMasks(np.load(tmp_path / "set" / "masks.npy"), 40)
    sums = masks.row_sums()
    assert sums.min() < sums.max()
    assert sums.mean() == pytest.approx(12, abs=0.5)


@pytest.mark.skipif(not MINI.exists(), reason="the CIFAR-10 sample beside the project is not there")
def test_cifar10_images(tmp_path):
    size = ("--train", 50, "--targets", 10, "--models", 4, "--steps", 3, "--hidden", 2)
    done = call(tmp_path, "--dataset", "cifar10", "--images", MINI, "--out", "set", *size)
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "set" / "margins.npy").shape == (4, 10)
    images = ImageSet.load(tmp_path / "set" / "images.npz")
    assert images.train.shape == (50, 32, 32, 3)
    assert "dog" in images.class_names


@pytest.mark.skipif(not MINI.exists(), reason="the CIFAR-10 sample beside the project is not there")
@pytest.mark.parametrize("law", ("fixed-size", "bernoulli"))
def test_masks_of_a_cifar10_training_pass_the_check(tmp_path, law):
    size = ("--train", 200, "--targets", 10, "--models", 400, "--steps", 1, "--architecture", "softmax", "--law", law)
    done = call(tmp_path, "--dataset", "cifar10", "--images", MINI, "--out", "set", *size)
    assert done.returncode == 0, done.stderr
    masks = PackedMasks(np.load(tmp_path / "set" / "masks.npy"), 200)
    labels = ImageSet.load(tmp_path / "set" / "images.npz").train_labels
    report = check_exchangeable(masks[100:], labels=labels, fit_masks=masks[:100])
    assert (report.law, report.ok) == (law, True)


@pytest.mark.parametrize("rows", (4000, 1000))
def test_the_embedded_masks_pass_the_check(rows):
    masks = PackedMasks(np.load(EMBEDDED / "masks.npy"), 400)
    labels = ImageSet.load(EMBEDDED / "images.npz").train_labels
    report = check_exchangeable(masks[-rows:], labels=labels, fit_masks=masks[:-rows])
    assert (report.law, report.reasons) == ("fixed-size", ())


@pytest.mark.parametrize(("arguments", "part"), [
    (("--train", 45), "--train 45 cannot be split evenly"),
    (("--hidden", 0), "--hidden must be"),
    (("--learning-rate", -1), "--learning-rate must be"),
    (("--proportion", 1.5), "--proportion 1.5 must lie strictly between 0 and 1"),
    (("--dataset", "cifar10"), "needs --images"),
    (("--images", "x"), "--images is for CIFAR-10"),
    (("--dataset", "cifar10", "--images", "nowhere"), "nowhere"),
])  # fmt: skip
def test_bad_input(tmp_path, arguments, part):
    done = call(tmp_path, "--out", "set", *arguments)
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "set").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "thesis.tex").write_text("precious")
    done = call(tmp_path, "--out", "set", *TINY)
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [p.name for p in (tmp_path / "set").iterdir()] == ["thesis.tex"]
