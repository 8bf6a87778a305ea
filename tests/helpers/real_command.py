"""The real command, each time in a process of its own, and what it says."""

import csv
import subprocess
import sys

from progress_lines import without_progress

COMMAND = [sys.executable, "-c", "from pipeline.cli import main; main()"]
STAGES = ("download", "fit", "test", "evidence", "prior", "atlas", "influence", "report")
# Small enough to run often: the embedded set with 12 targets of one class, 100 pairs and a short path.
# What is changed would be in its report's name, so that it is given one.
NAMED = ("--set", "report.name=digits")
SMALL = ("--set", "fit.targets=[0,3,13,20,30]", "--set", "test.repeats=1", "--set", "fit.n_lambdas=10", *NAMED)


def call(folder, *arguments, **options):
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder, **options
    )
    done.stderr = without_progress(done.stderr)
    return done


def ok(folder, *arguments):
    done = call(folder, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def states(output):
    """{"download": "cached", …} of a run's lines."""
    words = [line.split() for line in output.splitlines() if not line.startswith(" ")]
    return {w[0]: w[1] for w in words if w and w[0] in STAGES}


def table(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
