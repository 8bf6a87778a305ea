"""SIGTERM and SIGHUP, by which systems and terminals end a command, end it as a Ctrl-C does: all is cleared up.

Both raise a KeyboardInterrupt in the main thread, so that whatever answers a Ctrl-C answers them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__)
_came: list[int] = []


class EndedError(KeyboardInterrupt):
    """A signal came."""


@contextmanager
def as_interrupts() -> Iterator[None]:
    """Both raise an `EndedError` inside; one that is ignored, as SIGHUP is by nohup, stays ignored."""
    _came.clear()
    if threading.current_thread() is not threading.main_thread():  # Only that one may say what answers a signal.
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    """Only the first counts: systems send several, and another must not stop what the first began to clear up."""
    _came.append(number)
    if len(_came) == 1:
        raise EndedError


def came() -> signal.Signals | None:
    """Which one ended the command, if one did."""
    return signal.Signals(_came[0]) if _came else None
