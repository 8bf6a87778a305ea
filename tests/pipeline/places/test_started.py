"""Workers of this machine, started for one command: they go with it however it ends. Without --cluster, no Dask."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from command_here import call
from dask_processes import ENVIRONMENT, group, wait_until
from noted_work import Noted
from progress_lines import without_progress
from real_command import COMMAND, SMALL

from pipeline.places.cluster import Cluster
from pipeline.places.settings import ClusterSettings
from pipeline.progress import progress_bar

FIT = ("fit", "--set", "fit.targets=all", "--set", "fit.n_lambdas=100")


def test_workers_of_this_machine_share_its_cores(tmp_path):
    said, work = [], Noted(tmp_path)
    settings = ClusterSettings(address="local:2")
    with Cluster(settings, tmp_path, said.append, quiet=True) as cluster:
        made = {unit: arrays["number"].tolist() for unit, arrays in cluster.done(work, range(9), lambda step: None)}
        processes = {process for process, _ in work.opened}
        assert os.getpid() not in processes
    assert made == {unit: [unit] * 8 for unit in range(9)}
    assert said[0].startswith("2 workers with ")
    assert not [process for process in processes if psutil.pid_exists(process)]


def test_once_workers_are_there_it_is_the_work_whose_progress_shows(tmp_path, monkeypatch, capsys):
    """And not for how long there has been a cluster."""
    monkeypatch.setattr("pipeline.progress.screen.SOON", 0.0)
    monkeypatch.setattr("pipeline.progress.screen.EVERY", 0.0)
    with (
        progress_bar(3, "unit", "work", quiet=False) as advance,
        Cluster(ClusterSettings(address="local:1"), tmp_path, lambda line: None, quiet=False) as cluster,
    ):
        for _ in cluster.done(Noted(tmp_path), range(3), advance):
            capsys.readouterr()
            time.sleep(1.2)  # More than two looks at what to show.
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("work: 3 of 3 units (100 %)") for line in lines)
    assert not any(line.startswith("cluster") for line in lines)


@pytest.mark.parametrize("end", (signal.SIGINT, signal.SIGKILL), ids=("Ctrl-C", "kill −9"))
def test_they_do_not_outlive_the_command(tmp_path, end):
    command = subprocess.Popen(
        [*COMMAND, *FIT, "--cluster", "local:2"], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: list(tmp_path.glob("data/fit/.work-*/chosen-*.npz")))
    assert len(group(command.pid)) >= 3
    if end == signal.SIGINT:  # A terminal sends it to all of them.
        os.killpg(command.pid, end)
        _, stderr = command.communicate(timeout=30)
        assert command.returncode == 130
        assert without_progress(stderr).split("\n") == [
            "",
            "datamodels-inf: interrupted; nothing was left half-written.",
            "",
        ]
    else:
        command.kill()
        command.communicate()
    wait_until(lambda: not group(command.pid), seconds=10)
    assert list(tmp_path.glob("data/fit/.work-*/chosen-*.npz"))


def python(folder, code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("words", (("fit", *SMALL, "--quiet"), ("fit", "--help")), ids=("fit", "help"))
def test_without_a_cluster_nothing_of_dask_is_imported(tmp_path, words):
    code = """
import atexit, sys
atexit.register(lambda: print(sorted({name.partition(".")[0] for name in sys.modules} & {"dask", "distributed",
                                                                                        "dask_jobqueue", "tornado"})))
from pipeline.cli import main
main()
"""
    done = python(tmp_path, code, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("missing", "said"),
    (("distributed", "a cluster needs Dask"), ("dask_jobqueue", "cluster.address 'slurm' needs dask-jobqueue")),
)
def test_what_is_not_installed_is_one_sentence(tmp_path, monkeypatch, missing, said):
    monkeypatch.setitem(sys.modules, missing, None)  # So an import fails.
    slurm = ("--cluster", "slurm", "--set", 'cluster.slurm={cores=1, memory="1GB"}')
    done = call(tmp_path, "fit", *SMALL, *slurm)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"datamodels-inf: {said}: pip install 'datamodels-inf[cluster]'." in done.stderr


@pytest.mark.parametrize(
    ("address", "said"),
    (
        ("tcp://127.0.0.1:1", "there is no Dask scheduler at tcp://127.0.0.1:1 (--cluster); start one"),
        ("tls://127.0.0.1:1", "Dask cannot connect to tls://127.0.0.1:1 (--cluster): TLS expects"),
        ("tcp://nobody.invalid:8786", "there is no Dask scheduler at tcp://nobody.invalid:8786"),
    ),
)
def test_an_address_where_nobody_is(tmp_path, address, said):
    done = call(tmp_path, "fit", *SMALL, "--cluster", address, "--set", "cluster.patience=0.5")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
