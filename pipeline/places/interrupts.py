"""A Ctrl-C, which a terminal sends to every process of a command, is for the command itself to answer, as are other
signals that end it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.resource_tracker import ensure_running

from pipeline.signals import ENDING

ANSWERED = (signal.SIGINT, *ENDING)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """They come when the block ends; threads and processes that the block starts get no Ctrl-C, nor do those they
    start."""
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
    """Threads that were there before may still hear them, for this one to answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: handler for number in ANSWERED if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def same_handler() -> Iterator[None]:
    """What answers a signal is after the block what it was before: imports may change it."""
    before = {number: signal.getsignal(number) for number in ANSWERED}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
