"""A training that is killed goes on, and workers change nothing."""

import signal
import subprocess
import time

from command_here import call
from real_command import COMMAND

from pipeline.training import made_set

TINY = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)


def test_a_killed_training_goes_on_and_workers_change_nothing(tmp_path, monkeypatch):
    assert call(tmp_path, "train", "--out", "whole", *TINY, "--workers", 1).returncode == 0
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
    train, trained = made_set.train_batches, []

    def noted(inputs, recipe, batches, workers):
        trained.extend(batches := list(batches))
        return train(inputs, recipe, batches, workers)

    monkeypatch.setattr(made_set, "train_batches", noted)
    again = call(tmp_path, "train", "--out", "cut", *TINY, "--workers", 2)
    assert again.returncode == 0, again.stderr
    assert len(trained) == 3 - len(kept)
    for name in ("masks.npy", "margins.npy", "images.npz", "manifest.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
