"""A small SLURM: `sbatch` runs a job's script at once in the background, `scancel` ends it."""

import os
import signal
from contextlib import suppress

from dask_processes import group

SBATCH = """#!/bin/sh
n=1
until mkdir "$FAKE_SLURM/job-$n" 2>/dev/null; do n=$((n + 1)); done
cp "$1" "$FAKE_SLURM/job-$n/script"
setsid sh "$FAKE_SLURM/job-$n/script" >"$FAKE_SLURM/job-$n/log" 2>&1 &
echo $! >"$FAKE_SLURM/job-$n/pid"
echo "Submitted batch job $n"
"""
SCANCEL = """#!/bin/sh
for n in "$@"; do
    echo "$n" >>"$FAKE_SLURM/cancelled"
    kill -9 -- -"$(cat "$FAKE_SLURM/job-$n/pid")"
done
"""
REFUSING = """#!/bin/sh
echo "sbatch: error: invalid partition specified: nowhere" >&2
exit 1
"""


class FakeSlurm:
    """Commands in folder/bin, and a folder for each job. sbatch: another script for it."""

    def __init__(self, folder, sbatch=SBATCH):
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir(parents=True)
        for name, text in (("sbatch", sbatch), ("scancel", SCANCEL)):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        self.environment = {"FAKE_SLURM": str(folder), "PATH": f"{self.bin}:{os.environ['PATH']}"}

    @property
    def jobs(self):
        """Their scripts."""
        return [path.read_text() for path in sorted(self.folder.glob("job-*/script"))]

    @property
    def cancelled(self):
        """Numbers of jobs."""
        note = self.folder / "cancelled"
        return sorted(map(int, note.read_text().split())) if note.exists() else []

    @property
    def running(self):
        """Numbers of jobs whose process is still there."""
        return [path.parent.name for path in self.folder.glob("job-*/pid") if group(int(path.read_text()))]

    def close(self):
        """End what nobody cancelled."""
        for path in self.folder.glob("job-*/pid"):
            with suppress(ProcessLookupError):
                os.killpg(int(path.read_text()), signal.SIGKILL)
