"""What becomes of a run whose workers or scheduler go: it stops with a sentence, and the next one goes on."""

import os
import signal
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest
import small_trained
from command_here import call, ok
from dask_processes import ENVIRONMENT, dask_processes, wait_until
from distributed import Client, wait
from noted_work import Noted
from progress_lines import without_progress
from real_command import COMMAND
from same_results import contents

from pipeline.errors import WorkStoppedError
from pipeline.places.cluster import Cluster
from pipeline.places.settings import ClusterSettings
from pipeline.places.watch import Watch
from pipeline.training import parts as of_training

TRAIN = ("train", "--out", "set", *small_trained.ANYWHERE[:-1])
KEPT = "what was finished is kept, and the same command goes on from there"


def parts(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("set/.parts/0*.npz")}


def after(n_parts, folder, happen):
    """When so many parts of a training are there."""
    thread = threading.Thread(
        target=lambda: wait_until(lambda: len(parts(folder)) >= n_parts, every=0.002) and happen()
    )
    thread.start()
    return thread


def place(processes, folder, said=None, **settings):
    say = (lambda line: None) if said is None else said.append
    return Cluster(ClusterSettings(address=processes.address, **settings), folder, say, quiet=True)


def test_workers_and_scheduler_go_and_the_training_is_finished_without_them(tmp_path, monkeypatch):
    """One after the other, each time in the middle; no finished batch is trained again."""
    monkeypatch.setattr(of_training, "CHUNK", 16)
    with dask_processes(tmp_path, 1, "--no-nanny") as processes:
        place = ("--cluster", processes.address, "--set", "cluster.patience=1")
        killing = after(2, tmp_path, processes.kill_worker)
        stopped = call(tmp_path, *TRAIN, *place)
        killing.join()
        assert stopped.returncode == 1, stopped.stderr
        assert "no worker is connected to tcp://127.0.0.1" in stopped.stdout
        assert f"for 1 s (cluster.patience); start one with: dask worker {processes.address}; {KEPT}" in stopped.stderr
        assert stopped.stderr.count("\n") == 1

        first = parts(tmp_path)
        processes.worker("--no-nanny")
        killing = after(len(first) + 2, tmp_path, processes.scheduler.kill)
        began = time.monotonic()
        stopped = call(tmp_path, *TRAIN, *place)
        killing.join()
        assert stopped.returncode == 1, stopped.stderr
        assert f"the scheduler of the cluster, {processes.address}, has gone; {KEPT}" in stopped.stderr
        assert stopped.stderr.count("\n") == 1
        assert time.monotonic() - began < 15

        second = parts(tmp_path)
        assert first.items() < second.items()
    missing = call(tmp_path, *TRAIN, *place)
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert f"there is no Dask scheduler at {processes.address}" in missing.stderr
    assert parts(tmp_path) == second
    ok(tmp_path, *TRAIN)
    assert not (tmp_path / "set" / ".parts").exists()
    ok(tmp_path, "train", "--out", "other", *small_trained.TINY)
    assert contents(tmp_path / "set") == contents(tmp_path / "other")


def test_an_interrupt_ends_the_command_and_leaves_the_workers(tmp_path):
    with dask_processes(tmp_path) as processes:
        words = ("fit", "--set", "fit.targets=all", "--set", "fit.n_lambdas=100", "--cluster", processes.address)
        command = subprocess.Popen(
            [*COMMAND, *words], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        wait_until(lambda: list(tmp_path.glob("data/fit/.work-*/chosen-*.npz")))
        os.killpg(command.pid, signal.SIGINT)
        _, stderr = command.communicate(timeout=30)
        assert command.returncode == 130
        assert without_progress(stderr).split("\n") == [
            "",
            "datamodels-inf: interrupted; nothing was left half-written.",
            "",
        ]
        assert list(tmp_path.glob("data/fit/.work-*/chosen-*.npz"))
        assert not list(tmp_path.glob("data/.cluster-*"))
        with place(processes, tmp_path) as cluster:  # The worker is free for others.
            assert len(list(cluster.done(Noted(tmp_path / "data"), range(3), lambda step: None))) == 3


def test_a_unit_that_ends_every_worker_is_told(tmp_path):
    """As one does that needs more memory than there is."""
    work, said = Noted(tmp_path, deadly=2), []
    with dask_processes(tmp_path) as processes, place(processes, tmp_path, said, in_flight=1) as cluster:
        done = cluster.done(work, range(5), lambda step: None)
        assert [next(done)[0] for _ in range(2)] == [0, 1]
        with pytest.raises(WorkStoppedError, match=r"one unit of work has ended 4 workers, the last of them tcp://.*"):
            next(done)
    assert len([line for line in said if "waiting for one" in line]) <= 4


def test_workers_that_all_paused_for_want_of_memory_are_told(tmp_path):
    """Dask would wait for ever."""
    work, said = Noted(tmp_path, held=300 * 2**20, seconds=1.0), []
    with (
        dask_processes(tmp_path, 1, "--memory-limit", "480MB") as processes,
        place(processes, tmp_path, said, in_flight=1, patience=3.0) as cluster,
    ):
        done = cluster.done(work, range(50), lambda step: None)
        with pytest.raises(WorkStoppedError, match=r"all workers of tcp://\S+ have paused for 3 s"):
            list(done)
    assert said[-1] == "all workers have paused, for they are short of memory …"
    assert len(work.begun) < 10


def test_a_worker_is_waited_for_and_not_in_silence(tmp_path):
    said = []
    with dask_processes(tmp_path, 0) as processes, place(processes, tmp_path, said, patience=30.0) as cluster:
        coming = threading.Thread(target=lambda: wait_until(lambda: said) and processes.worker(wait=False))
        coming.start()
        assert len(list(cluster.done(Noted(tmp_path), range(3), lambda step: None))) == 3
        coming.join()
    waiting = f"no worker is connected to {processes.address}: waiting for one …"
    assert said == [waiting, "1 worker with 1 thread of a cluster"]


def test_workers_that_are_at_work_for_another_command_are_told_of(tmp_path, monkeypatch):
    """As for one that was interrupted in the middle of a unit, which goes on for nobody."""
    monkeypatch.setattr("pipeline.places.watch.LOOK_CLOSER", 0.2)
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    said, long = [], Noted(folders[0], seconds=6.0)
    with dask_processes(tmp_path) as processes:

        def other():
            with place(processes, folders[0]) as cluster:
                list(cluster.done(long, range(1), lambda step: None))

        thread = threading.Thread(target=other)
        thread.start()
        wait_until(lambda: long.begun)
        with place(processes, folders[1], said) as cluster:
            assert len(list(cluster.done(Noted(folders[1]), range(2), lambda step: None))) == 2
        thread.join()
    assert len([line for line in said if "all workers are at work for another command" in line]) == 1


@pytest.mark.parametrize("another_comes", (False, True), ids=("nobody", "another"))
def test_a_result_that_goes_with_its_worker(tmp_path, another_comes):
    """It is finished, and lost before it is here: made again by another worker, or, where none comes, waited for as
    long as for any."""
    settings = ClusterSettings(patience=60.0 if another_comes else 1.0)
    with dask_processes(tmp_path, 1, "--no-nanny") as processes, Client(processes.address) as client:
        watch = Watch(client, settings, lambda line: None, quiet=True)
        future = client.submit(dict, number=7, pure=False)
        wait(future, timeout=30)
        processes.kill_worker()
        if another_comes:
            processes.worker("--no-nanny")
            assert watch.result(future) == {"number": 7}
        else:
            with pytest.raises(WorkStoppedError, match=r"no worker has been connected to \S+ for 1 s"):
                watch.result(future)


def test_of_units_that_end_together_those_that_failed_come_last(monkeypatch):
    """Whoever writes them has then written the others."""
    ended = [SimpleNamespace(status=status) for status in ("error", "finished", "error", "finished")]
    monkeypatch.setattr("distributed.wait", lambda *_, **__: SimpleNamespace(done=ended))
    watch = Watch(None, ClusterSettings(), print, True)
    assert [future.status for future in watch.finished(ended)] == ["finished", "finished", "error", "error"]
