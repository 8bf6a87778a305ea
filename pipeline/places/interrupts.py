"""A Ctrl-C, which a terminal sends to every process of a command, is for the command itself to answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.resource_tracker import ensure_running


@contextmanager
def interrupts_later() -> Iterator[None]:
    """One comes when the block ends; threads and processes that the block starts get none, nor do those they start."""
    with _held_back():
        if not hasattr(signal, "pthread_sigmask"):  # On Windows.
            yield
            return
        ensure_running()  # The process that keeps book of semaphores: its start would let signals in again.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _held_back() -> Iterator[None]:
    """Threads that were there before may still hear it, for this one to answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def same_handler() -> Iterator[None]:
    """What answers a Ctrl-C is after the block what it was before: imports may change it."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not before:
            signal.signal(signal.SIGINT, before)
