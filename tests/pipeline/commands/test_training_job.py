"""A training that is killed goes on, and workers change nothing."""

import signal
import subprocess
import time

from command_here import call
from real_command import COMMAND

# The command, which also says how many chunks it trains.
COUNTING = """
import pipeline.commands.training_job as t
train = t._train
t._train = lambda job, images, starts, workers: print("chunks", len(starts)) or train(job, images, starts, workers)
from pipeline.cli import main
main()
"""
TINY = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4)


def test_a_killed_training_goes_on_and_workers_change_nothing(tmp_path):
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
    again = subprocess.run(
        [*COMMAND[:2], COUNTING, "train", "--out", "cut", *map(str, TINY), "--workers", "2"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[0] == f"chunks {3 - len(kept)}"
    for name in ("masks.npy", "margins.npy", "images.npz", "manifest.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
