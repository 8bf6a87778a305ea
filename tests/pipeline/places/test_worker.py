"""What a worker makes: one unit at a time, with all its threads, by a work that it opens once."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from dask_processes import dask_processes, wait_until
from distributed import Client
from noted_work import Noted

from datamodels_inf.internal.cores import available_cores
from pipeline.places.cluster import Cluster
from pipeline.places.settings import ClusterSettings


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("cluster"), 1, "--nthreads", 2) as started:
        yield started


def place(processes, folder):
    settings = ClusterSettings(address=processes.address, in_flight=4)
    return Cluster(settings, folder, lambda line: None, quiet=True)


def test_one_unit_at_a_time_has_all_threads(processes, tmp_path):
    work = Noted(tmp_path, seconds=0.15)
    with place(processes, tmp_path) as cluster:
        assert len(list(cluster.done(work, range(4), lambda step: None))) == 4
    ((_, threads),) = work.opened
    assert threads == min(2, available_cores())
    begun = sorted((tmp_path / str(number)).stat().st_mtime for number in range(4))
    assert min(b - a for a, b in pairwise(begun)) >= 0.14


def test_a_work_stays_open_until_another_comes_or_it_is_forgotten(processes, tmp_path):
    works = [Noted(tmp_path / name) for name in ("a", "b")]
    for work in works:
        work.folder.mkdir()

    def opened(work):
        """Whether a unit opens it."""
        for path in work.folder.glob("open-*"):
            path.unlink()
        list(cluster.done(work, [0], lambda step: None))
        return bool(work.opened)

    with place(processes, tmp_path) as cluster:
        assert [opened(works[k]) for k in (0, 0, 1, 1, 0)] == [True, False, True, False, True]
        cluster.forget()
        assert opened(works[0])


def test_another_command_opens_a_work_anew(processes, tmp_path):
    """Its files, or the functions that it imports, may be others than before."""
    for _ in range(2):
        work = Noted(tmp_path)
        for path in tmp_path.glob("open-*"):
            path.unlink()
        with place(processes, tmp_path) as cluster:
            list(cluster.done(work, [0], lambda step: None))
        assert len(work.opened) == 1


def test_to_forget_does_not_wait_for_a_unit_of_another_command(processes, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    slow = Noted(tmp_path / "b", seconds=4)
    with place(processes, tmp_path / "a") as one, place(processes, tmp_path / "b") as other:
        for cluster, name in ((one, "a"), (other, "b")):
            list(cluster.done(Noted(tmp_path / name), [1], lambda step: None))
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(lambda: list(other.done(slow, [0], lambda step: None)))
            wait_until(lambda: 0 in slow.begun)
            before = time.monotonic()
            one.forget()
            assert time.monotonic() - before < 2
            assert len(made.result()) == 1


def talkative(dask_scheduler, times):
    """To the next so many clients, the scheduler has news together with its greeting, as it may for all clients when
    another of them lets go of a unit that ends just then."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    class Talkative(SchedulerPlugin):
        greeted = 0

        def add_client(self, scheduler, client):
            self.greeted += 1
            if self.greeted <= times:
                scheduler.loop.asyncio_loop.call_soon(scheduler.report, {"op": "key-in-memory", "key": "nobody's"})

    dask_scheduler.add_plugin(Talkative(), name="talkative")


@pytest.mark.parametrize("times", (1, 3))
def test_a_greeting_together_with_news_is_asked_for_again(processes, tmp_path, times):
    with Client(processes.address, set_as_default=False) as client:
        client.run_on_scheduler(talkative, times=times)
        with place(processes, tmp_path) as cluster:
            assert len(list(cluster.done(Noted(tmp_path), range(2), lambda step: None))) == 2
        greeted = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.plugins["talkative"].greeted)
        assert greeted == times + 1
        client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.remove_plugin("talkative"))


def test_what_is_finished_comes_before_a_failure(processes, tmp_path):
    """Units end while the client is busy with one; of those that ended together, the failed one is the last."""
    found = []
    settings = ClusterSettings(address=processes.address, in_flight=8)
    with Cluster(settings, tmp_path, lambda line: None, quiet=True) as cluster, pytest.raises(ZeroDivisionError):
        for unit, _ in cluster.done(Noted(tmp_path, seconds=0.1, wrong=1), range(8), lambda step: None):
            found.append(unit)
            time.sleep(2 if unit == 0 else 0)  # All others end meanwhile.
    assert set(found) == {0, 2, 3, 4, 5, 6, 7}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="malloc's settings are those of Linux")
def test_memory_that_every_step_needs_is_kept():
    """As in a worker that Dask starts, in a thread of its own: pages that are given back must be asked for again."""
    code = """
import resource, threading
import numpy as np
from pipeline.places.worker import keep_memory

def steps():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        a, b = np.ones(2**18), np.ones(2**18)  # 2 MB each.
        del b, a
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

faults = []
for kept in (False, True):
    if kept:
        keep_memory()
    thread = threading.Thread(target=steps)
    thread.start()
    thread.join()
print(*faults)
"""
    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "131072"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    before, after = map(int, done.stdout.split())
    assert before > 40_000
    assert after < before / 10
