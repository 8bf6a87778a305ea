"""A training that is killed goes on, workers change nothing, and images are kept where they are needed."""

import errno
import json
import os
import time

import numpy as np
import pytest
from command_here import call
from numbered_set import make_set, small
from trained_here import noted_units
from warm import Command

from datamodels_inf.training.recipe import Recipe
from pipeline.errors import BadInputError, WorkStoppedError
from pipeline.images.image_set import load_cifar10, load_digits
from pipeline.places.base import InProcess
from pipeline.store.files import file_digest
from pipeline.store.unfinished_steps import save_step
from pipeline.training import made_set
from pipeline.training.inputs import Features, images_digest
from pipeline.training.job import Job
from pipeline.training.made_set import train_source
from pipeline.training.supplies import Images

__all__ = ["small"]

TINY = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)


def test_a_killed_training_goes_on_and_workers_change_nothing(tmp_path):
    assert call(tmp_path, "train", "--out", "whole", *TINY, "--workers", 1).returncode == 0
    process = Command(tmp_path, "train", "--out", "cut", *TINY, "--workers", 2)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("cut/.parts/0*.npz")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
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


class Instant:
    """Models of no time: supplies, work and maker in one."""

    def __init__(self):
        images = load_digits(20, 10)
        self.job = Job("digits", 20, 10, images_digest(images), 30, Recipe(hidden=4), 5, 0.5, "fixed-size")
        self._images = Images(self.job, images)

    def keep(self, folder):
        self._images.keep(folder)
        return self

    def open(self, threads):
        return lambda unit, advance: {"margins": np.ones((unit.stop - unit.first, 10), np.float32)}

    def size(self, unit):
        return unit.stop - unit.first


def test_a_disk_without_room_and_what_a_killed_process_left(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("pipeline.training.parts.save_step", full)
        with pytest.raises(WorkStoppedError, match=r"the disk of \S+/set is full \(No space left.*give --out a folder"):
            train_source(Instant(), tmp_path / "set", InProcess(1), quiet=True)
    (tmp_path / "set" / ".part-0123.npy").touch()  # Killed while it wrote masks.npy.
    train_source(Instant(), tmp_path / "set", InProcess(1), quiet=True)
    assert {path.name for path in (tmp_path / "set").iterdir()} == {
        "images.npz", "manifest.json", "margins.npy", "masks.npy",
    }  # fmt: skip


def test_images_that_are_damaged_before_the_set_is_made_are_not_certified(tmp_path, monkeypatch):
    """They may have lain there for days."""
    assembled = made_set.assemble

    def late(parts, outcomes):
        path = parts.folder / "images.npz"
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        assembled(parts, outcomes)

    monkeypatch.setattr(made_set, "assemble", late)
    with pytest.raises(BadInputError, match=r"images\.npz is missing or damaged"):
        train_source(Instant(), tmp_path / "set", InProcess(1), quiet=True)
    assert not (tmp_path / "set" / "manifest.json").exists()


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
