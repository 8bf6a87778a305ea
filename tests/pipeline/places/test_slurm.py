"""Workers as jobs of SLURM, here one that runs them at once: asked for as configured, and cancelled at the end.

What Dask leaves half-made is a warning, and so an error of this process: what is refused has one of its own.
"""

import os
import signal

import command_here
import pytest
from dask_processes import ENVIRONMENT, wait_until
from fake_slurm import REFUSING, FakeSlurm
from places import ROOT
from real_command import call
from same_results import contents

CONFIG = """
[cluster]
address = "slurm"
jobs = 2

[cluster.slurm]
cores = 1
memory = "2GB"
queue = "short"
account = "us"
walltime = "00:10:00"
job_extra_directives = ["--gres=gpu:1"]
"""
FIT = ("--set", "fit.n_lambdas=8", "--set", "fit.targets=[0, 3, 13]")


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    started = FakeSlurm(tmp_path / "slurm")
    prepare(monkeypatch, started)
    yield started
    started.close()


def prepare(monkeypatch, slurm):
    for name, value in {**slurm.environment, "PYTHONPATH": ENVIRONMENT["PYTHONPATH"]}.items():
        monkeypatch.setenv(name, value)


def configure(folder, *changes):
    text = CONFIG
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / "ours.toml").write_text(text + (ROOT / "configs" / "digits.toml").read_text())
    return "--config", "ours.toml"


def test_jobs_are_asked_for_and_cancelled_and_their_work_is_the_same(slurm, tmp_path):
    handler = signal.getsignal(signal.SIGINT)
    output = command_here.ok(tmp_path, "fit", *configure(tmp_path), *FIT)
    assert "asked SLURM for 2 jobs" in output
    assert " of a cluster" in output
    assert len(slurm.jobs) == 2
    for job in slurm.jobs:
        assert "#SBATCH -p short\n#SBATCH -A us\n#SBATCH -n 1\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=2G\n" in job
        assert "#SBATCH -t 00:10:00\n#SBATCH --gres=gpu:1\n" in job
    assert slurm.cancelled == [1, 2]
    wait_until(lambda: not slurm.running, seconds=10)
    assert signal.getsignal(signal.SIGINT) is handler  # Which the import of dask-jobqueue changes.
    command_here.ok(tmp_path, "fit", *FIT, "--store", "alone")
    assert contents(tmp_path / "data") == contents(tmp_path / "alone")


def test_an_sbatch_that_takes_no_job_is_quoted(tmp_path, monkeypatch):
    prepare(monkeypatch, FakeSlurm(tmp_path / "slurm", REFUSING))
    done = call(tmp_path, "fit", *configure(tmp_path), *FIT)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "sbatch took no job of cluster.slurm: sbatch: error: invalid partition specified: nowhere." in done.stderr


def test_where_there_is_no_sbatch_nobody_waits(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    done = command_here.call(tmp_path, "fit", *configure(tmp_path), *FIT)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cluster.address 'slurm' needs sbatch, which is not here" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    (
        (('queue = "short"', 'colour = "red"'), "Got unexpected keyword argument 'colour'."),
        (('memory = "2GB"', 'memory = "much"'), ""),
    ),
)
def test_what_dask_jobqueue_does_not_take(slurm, tmp_path, change, said):
    done = call(tmp_path, "fit", *configure(tmp_path, change), *FIT)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"cluster.slurm is not what dask-jobqueue takes: {said}" in done.stderr
    assert slurm.jobs == []
