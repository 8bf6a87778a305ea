"""Threads: slices are even, errors come through, nobody goes on, and a forked process has its own."""

import os
import subprocess
import sys
import time

import pytest

from datamodels_inf.internal.threads import even_slices, in_threads


@pytest.mark.parametrize(("count", "most", "threads"), [(0, 5, 2), (1, 5, 2), (10, 5, 2), (11, 5, 2), (5000, 512, 3)])
def test_even_slices_cover_all_and_are_even(count, most, threads):
    slices = even_slices(count, most, threads)
    assert [k for s in slices for k in range(count)[s]] == list(range(count))
    lengths = [s.stop - s.start for s in slices]
    assert max(lengths, default=0) <= most
    assert max(lengths, default=0) - min(lengths, default=0) <= 1
    assert count < threads or len(slices) % threads == 0


@pytest.mark.parametrize("threads", (1, 4))
def test_in_threads_does_every_item_and_passes_on_errors(threads):
    done = []
    in_threads(done.append, range(50), threads)
    assert sorted(done) == list(range(50))
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda item: 1 // (item - 7), range(50), threads)


def test_in_threads_leaves_nobody_working_after_an_error():
    started, ended = [], []

    def work(item):
        started.append(item)
        if item == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        ended.append(item)

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(50), 3)
    assert sorted(started) == sorted([0, *ended])
    assert len(started) < 50


FORKED = """
import os
from datamodels_inf.internal.threads import in_threads
done = []
in_threads(done.append, range(4), 2)
child = os.fork()
in_threads(done.append, range(4), 2)
if child == 0:
    os._exit(len(done))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == len(done) == 8
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_of_a_forked_process_are_its_own():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60)
