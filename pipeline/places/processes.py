"""Processes of one thread each: for training, whose bits depend on the number of threads, not on that of processes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

from pipeline.errors import WorkStoppedError
from pipeline.places.base import Advance, Maker, U, Work
from pipeline.store.unfinished_steps import Arrays


@dataclass(frozen=True)
class Processes:
    """At most `count` of them, for as long as `done` is read.

    Each makes one unit at a time. Before one that is done is handed on to be saved, the next is begun in its place: no
    process waits for a disk, and a kill costs at most the units that are being made and the one that is being saved.
    """

    count: int
    remote: bool = False

    def done(self, work: Work[U], units: Iterable[U], advance: Advance) -> Iterator[tuple[U, Arrays]]:
        """Whoever stops early ends the processes at once."""
        left = iter(units)
        first = list(islice(left, self.count))
        if not first:
            return
        # Spawned, since torch's threads do not survive a fork; each process opens the work once.
        others = set(active_children())
        pool = ProcessPoolExecutor(len(first), get_context("spawn"), initializer=_start, initargs=(work,))
        under_way: dict[Future[Arrays], U] = {}
        try:
            with _interrupts_ignored():  # Processes inherit it: a Ctrl-C is the parent's to answer.
                under_way = {pool.submit(_make, unit): unit for unit in first}
            while under_way:
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                more = not any(map(_failed, done))  # Else nothing is begun; a pool that is broken would refuse it.
                for future in sorted(done, key=_failed):  # Those that failed come last: what is finished is not lost.
                    unit = under_way.pop(future)
                    under_way |= {pool.submit(_make, after): after for after in islice(left, int(more))}
                    arrays = future.result()
                    advance(work.size(unit))
                    yield unit, arrays
        except BrokenProcessPool as error:
            raise WorkStoppedError(
                "a process that did work was ended from outside or by a fault, as it is where memory runs out: use "
                "fewer of them (--workers, --threads); what was finished is kept, and the same command goes on from "
                "there."
            ) from error
        except BaseException:  # Also GeneratorExit: what is under way is wanted by nobody.
            for process in set(active_children()) - others:
                process.terminate()
            raise
        finally:
            # Nothing is left to wait for at the end, but a thread of the pool, which Python would trip over as it ends.
            pool.shutdown(wait=not under_way, cancel_futures=True)

    def visible(self, path: Path, folder: Path) -> Path:
        """The path itself: processes of this machine see all files."""
        return path

    def forget(self) -> None:
        """Nothing stays: the processes end with `done`."""


def _failed(future: Future[Arrays]) -> bool:
    return future.exception() is not None


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_of_this_process: list[Maker[Any] | Exception] = []
"""The work that was opened, or why it could not be."""


def _start(work: Work[Any]) -> None:
    from threadpoolctl import threadpool_limits

    try:
        _of_this_process.append(work.open(1))
    except Exception as error:  # For the first unit to say: what is raised here would break the pool, for no reason.
        _of_this_process.append(error)
    threadpool_limits(1)  # For good: as many processes as cores are at work.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process must not outlive a parent that was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make(unit: Any) -> Arrays:
    opened = _of_this_process[0]
    if isinstance(opened, Exception):
        raise opened
    return opened(unit, lambda step: None)
