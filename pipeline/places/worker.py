"""What runs in a Dask worker: one unit at a time, with all threads of the worker, by a work that is opened once."""

from __future__ import annotations

import ctypes
import pickle
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from datamodels_inf.internal.cores import available_cores, blas_threads
from pipeline.places.base import Maker
from pipeline.places.fitness import Expected, UnfitWorkerError
from pipeline.store.unfinished_steps import Arrays

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Of malloc.h."""
KEPT_BYTES = 32 * 2**20
"""What malloc comes to by itself, at most, where nobody sets it."""
_one_at_a_time = Lock()
_opened: dict[tuple[str, bytes], Maker[Any]] = {}
"""By the command that opened it, for another one's files and functions may have changed, and its pickle."""
_fit_for: set[Expected] = set()
_at_work: list[str] = []
"""The command whose unit is being made."""


def make(work: bytes, unit: bytes, expected: Expected) -> Arrays:
    """The arrays of a unit. work, unit: pickled, so that the scheduler need not know our code."""
    from distributed import get_worker

    with _one_at_a_time:
        if expected not in _fit_for:
            if problem := expected.problem():
                raise UnfitWorkerError.of({str(get_worker().address): problem})
            _fit_for.add(expected)
        keep_memory()
        threads = min(int(get_worker().state.nthreads), available_cores())
        _at_work[:] = [expected.token]
        try:
            with blas_threads(threads):
                return _maker(expected.token, work, threads)(pickle.loads(unit), lambda step: None)
        finally:
            _at_work.clear()


def problem(expected: Expected) -> str:
    """For `Client.run`, before work starts."""
    return expected.problem()


def at_work_for() -> str:
    """The token of the command whose unit is being made; empty if none is."""
    return "".join(_at_work)


def forget() -> None:
    """Close the work that is open, but for one in the middle of a unit, which is another command's: to wait for it
    would keep the worker from answering anybody."""
    if _one_at_a_time.acquire(blocking=False):
        try:
            _opened.clear()
        finally:
            _one_at_a_time.release()


@cache
def keep_memory() -> None:
    """Dask lets its workers give every freed byte back to the system at once (MALLOC_TRIM_THRESHOLD_), and training,
    which frees and takes the same megabytes at every step, then mostly waits for the system."""
    with suppress(AttributeError, OSError, TypeError):  # Not of every system.
        allocator = ctypes.CDLL(None)
        for option in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            allocator.mallopt(option, KEPT_BYTES)


def _maker(command: str, work: bytes, threads: int) -> Maker[Any]:
    """That of the last work stays open; another one's memory is given back before a new one is opened."""
    if (command, work) not in _opened:
        _opened.clear()
        _opened[command, work] = pickle.loads(work).open(threads)
    return _opened[command, work]
