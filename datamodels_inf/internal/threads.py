"""Work in threads, for compiled loops that let go of the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import TypeVar

from datamodels_inf.internal.cores import ONE_BLAS_THREAD

Item = TypeVar("Item")


def even_slices(count: int, most: int, threads: int) -> list[slice]:
    """`count` items in slices of about the same length, at most `most`, and as many for each thread."""
    number = threads * -(-count // (threads * most))
    ends = [count * k // max(1, number) for k in range(number + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends) if stop > start]


def in_threads(work: Callable[[Item], object], items: Iterable[Item], threads: int) -> None:
    """`work` on each item; it must let go of the interpreter's lock, and the order must not matter.

    `work` itself calls BLAS with one thread. It must not call `in_threads` with several: its pool has no more threads
    than these, which would wait for each other.
    """
    if threads == 1:
        for item in items:
            work(item)
        return
    pool = _pool(threads)
    with ONE_BLAS_THREAD:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in futures:
                future.result()
        finally:  # After an error or Ctrl-C nobody may go on writing to what the caller holds.
            for future in futures:
                future.cancel()
            wait(futures)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Kept: it takes longer to start threads than to count a few columns."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):  # Not on Windows.
    os.register_at_fork(after_in_child=_pool.cache_clear)  # A forked process does not have the threads.
