"""Runs that are killed, interrupted, or find the disk full."""

import re
import signal
import subprocess
import time

from real_command import COMMAND, SMALL, call


def test_interrupt_leaves_nothing_half_written(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "fit"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not list(tmp_path.glob("data/fit/.tmp-*")):
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert [path for path in (tmp_path / "data" / "fit").iterdir() if not path.name.startswith(".work-")] == []


def test_a_full_disk_is_one_sentence(tmp_path):
    """A file-size limit stands for the full disk: the write fails, and the process must not die of it."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = call(tmp_path, "run", *SMALL, preexec_fn=limit)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert re.fullmatch(
        r"datamodels-inf: the disk of data is full \(.+\); free some space, or give --store a folder on a larger disk, "
        r"and run again: what is complete is kept\.\n", done.stderr,
    )  # fmt: skip
    assert not list(tmp_path.glob("data/*/.tmp-*"))
