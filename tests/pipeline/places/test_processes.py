"""Processes of one thread: few units are under way, none outlives its reader, and what a unit raises is raised."""

import multiprocessing
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from small_cifar10 import wait_for
from threadpoolctl import threadpool_info

from pipeline.errors import BadInputError, WorkStoppedError
from pipeline.places.processes import Processes


@dataclass(frozen=True)
class Squares:
    """A unit is a number, and its array tells the process and its threads too. opened: a folder for a file of each
    process that opens the work."""

    opened: str = ""

    def size(self, unit):
        return unit

    def open(self, threads):
        if self.opened:
            (Path(self.opened) / str(os.getpid())).touch(exist_ok=False)
        return self._made

    def _made(self, unit, advance):
        if unit == -1:
            raise BadInputError("a unit that cannot be made.")
        if unit == -2:
            os.kill(os.getpid(), 9)
        if unit > 10**6:
            time.sleep(600)
        threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        return {"square": np.array([unit * unit, os.getpid(), threads])}


PLAIN = Squares()


@pytest.fixture(autouse=True)
def as_they_are_started_by_commands(monkeypatch):
    """Spawned, and not `warm`: here it is about them."""
    monkeypatch.setattr("pipeline.places.processes.get_context", multiprocessing.get_context)


@dataclass(frozen=True)
class Closed(Squares):
    """It cannot be opened."""

    def open(self, threads):
        raise BadInputError("a work that cannot be opened.")


def done(count, units, work=PLAIN, advance=lambda steps: None):
    return Processes(count).done(work, units, advance)


def test_all_units_are_made_by_processes_that_open_the_work_once_and_have_one_thread(tmp_path):
    steps = []
    found = dict(done(2, range(20), Squares(str(tmp_path)), steps.append))
    assert {unit: int(arrays["square"][0]) for unit, arrays in found.items()} == {n: n * n for n in range(20)}
    processes = {int(arrays["square"][1]) for arrays in found.values()}
    assert processes <= {int(path.name) for path in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) <= 2 and os.getpid() not in processes
    assert {int(arrays["square"][2]) for arrays in found.values()} == {1}
    assert sum(steps) == sum(range(20))


def test_few_units_are_under_way_and_none_outlives_its_reader():
    """A generator of units may be longer than memory: it is asked for more only as results are taken."""
    asked, taken = [], []

    def endless():
        for number in range(10**6):
            asked.append(number)
            yield number

    results = done(1, endless())
    for _ in range(8):
        taken.append(next(results)[0])
        assert len(asked) == len(taken) + 1  # The one that is taken, and one in its place.
    results.close()
    assert len(set(taken)) == 8
    wait_for(lambda: not multiprocessing.active_children())


def test_at_the_end_no_thread_of_theirs_is_left():
    """Python would wake it up as it ends, by a pipe that it may just have closed."""
    before = set(threading.enumerate())
    assert len(list(done(2, range(5)))) == 5
    assert set(threading.enumerate()) <= before


def test_a_reader_who_stops_waits_for_no_unit():
    results = done(2, [1, 10**7])
    assert next(results)[0] == 1
    before = time.monotonic()
    results.close()
    wait_for(lambda: not multiprocessing.active_children())
    assert time.monotonic() - before < 30


def test_no_unit_starts_no_process(tmp_path):
    assert list(done(2, iter(()), Squares(str(tmp_path)))) == []
    assert not list(tmp_path.iterdir())


def test_what_a_unit_raises_is_raised_here():
    with pytest.raises(BadInputError, match="a unit that cannot be made"):
        list(done(1, [3, -1, 4]))
    wait_for(lambda: not multiprocessing.active_children())


@pytest.mark.parametrize(("bad", "error"), ((-1, BadInputError), (-2, WorkStoppedError)), ids=("raised", "killed"))
def test_what_is_finished_comes_before_a_failure(bad, error):
    found = []
    with pytest.raises(error):
        for unit, _ in done(1, [3, 4, 5, bad, 6, 7, 8]):
            found.append(unit)
            time.sleep(0.5)  # The others are made meanwhile.
    assert {3, 4, 5} <= set(found)


def test_a_work_that_cannot_be_opened_says_why(capfd):
    """And nothing else, such as that a process was ended from outside."""
    with pytest.raises(BadInputError, match="a work that cannot be opened"):
        list(done(1, [3, 4], Closed()))
    wait_for(lambda: not multiprocessing.active_children())
    assert capfd.readouterr().err == ""


def test_a_process_that_is_killed_is_a_sentence():
    with pytest.raises(WorkStoppedError, match=r"a process that did work was ended .*; what was finished is kept"):
        list(done(1, [-2]))
    wait_for(lambda: not multiprocessing.active_children())


def test_files_are_seen_where_they_are(tmp_path):
    assert Processes(1).visible(tmp_path / "x", tmp_path / "copies") == tmp_path / "x"
    assert not Processes(1).remote
