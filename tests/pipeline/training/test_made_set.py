"""A training that is killed goes on, workers change nothing, and images are kept where they are needed."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest
from command_here import call
from numbered_set import make_set, small
from real_command import COMMAND
from trained_here import noted_units

from pipeline.images.image_set import load_cifar10
from pipeline.store.files import file_digest
from pipeline.store.unfinished_steps import save_step
from pipeline.training.inputs import Features, images_digest

__all__ = ["small"]

TINY = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)


def test_a_killed_training_goes_on_and_workers_change_nothing(tmp_path):
    assert call(tmp_path, "train", "--out", "whole", *TINY, "--workers", 1).returncode == 0
    process = subprocess.Popen(
        [*COMMAND, "train", "--out", "cut", *map(str, TINY), "--workers", "2"], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("cut/.parts/0*.npz")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("cut/.parts/0*.npz")}
    assert kept or (tmp_path / "cut" / "manifest.json").exists()
    with noted_units() as trained:
        again = call(tmp_path, "train", "--out", "cut", *TINY, "--workers", 2)
    assert again.returncode == 0, again.stderr
    assert len(trained) == 3 - len(kept)
    for name in ("masks.npy", "margins.npy", "images.npz", "manifest.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_damaged_part_is_named_and_trained_again(tmp_path):
    few = ("--train", 20, "--targets", 10, "--models", 600, "--steps", 2, "--hidden", 2, "--workers", 1)
    assert call(tmp_path, "train", "--out", "whole", *few).returncode == 0
    job = json.loads((tmp_path / "whole" / "manifest.json").read_text())["job"]
    parts = tmp_path / "cut" / ".parts"
    parts.mkdir(parents=True)
    (parts / "job.json").write_text(json.dumps({"job": job}))
    wrong = np.zeros((512, 10), np.float16)
    save_step(parts / "000000000.npz", {"margins": wrong})
    content = bytearray((parts / "000000000.npz").read_bytes())
    content[300] ^= 1
    (parts / "000000000.npz").write_bytes(content)
    again = call(tmp_path, "train", "--out", "cut", *few)
    assert again.returncode == 0, again.stderr
    assert "000000000.npz is damaged" in again.stdout and "trained again" in again.stdout
    for name in ("masks.npy", "margins.npy", "manifest.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("numbered", (True, False))
def test_images_that_can_be_had_by_number_are_not_kept(small, tmp_path, numbered):
    """What `train --out` leaves is what ships."""
    images = load_cifar10(small.folder)
    out = make_set(tmp_path / "set", images, numbered=numbered, n_models=20)
    names = {"masks.npy", "margins.npz", "features.npz", *(() if numbered else ("images.npz",))}
    assert {path.name for path in out.iterdir()} == {*names, "manifest.json"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["sha256"] == {name: file_digest(out / name) for name in names}
    features = Features.load(out / "features.npz")
    if numbered:
        chosen = images.chosen(features.train_numbers, features.target_numbers)
        assert images_digest(chosen) == manifest["job"]["images_sha256"]
    make_set(out, images, numbered=numbered, n_models=20)  # It is found whole.
