"""Locks that say whom they wait for: a command that stands still without a word looks broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import BaseFileLock, Timeout


@contextmanager
def held(lock: BaseFileLock, waiting: Callable[[], object]) -> Iterator[None]:
    """`lock`, held inside; `waiting` is called where another process has it, and then this one waits."""
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
