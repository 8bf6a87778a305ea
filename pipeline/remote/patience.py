"""How long a server is waited for: attempts in a row, pauses between them, and when it is given up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from pipeline.remote.failures import (
    CutShortError,
    RemoteError,
    TooSlowError,
    TransientError,
    UnreachableError,
)

LONGEST_PAUSE = 30.0

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """`attempts` in a row that bring no more than the share `gain` of a transfer; `pause` seconds, doubled each time.

    Where there is another place to ask (`elsewhere`), one that was never reached or that drips is left at once.
    """

    attempts: int = 7
    pause: float = 0.5
    gain: float = 0.0
    elsewhere: bool = False


class Attempts:
    """The failures of one transfer of `total` bytes, of which `done` were there before.

    `sentence` makes of the last reason the one that the user reads.
    """

    def __init__(self, patience: Patience, sentence: Callable[[str], str], *, total: int = 0, done: int = 0) -> None:
        self._patience = patience
        self._sentence = sentence
        self._total = total
        self._furthest = done
        self._reached = False
        self.failures = 0

    def failed(self, error: TransientError, done: int = 0) -> None:
        """Wait until it is worth another attempt, or raise a `RemoteError`; `done` bytes are there now."""
        gained = done - self._furthest
        self._furthest = max(self._furthest, done)
        self._reached |= not isinstance(error, UnreachableError)
        self.failures = 1 if gained > self._patience.gain * self._total else self.failures + 1
        hopeless = not self._reached or isinstance(error, TooSlowError)
        if self.failures >= self._patience.attempts or (self._patience.elsewhere and hopeless):
            reason = self._reason(error, done)
            raise RemoteError(self._sentence(reason), reason) from error
        time.sleep(seconds_to_wait(self._patience.pause, self.failures, error.retry_after))

    def _reason(self, error: TransientError, done: int) -> str:
        counted = isinstance(error, CutShortError) and self._total > 0
        return f"{error} after {done:,} of {self._total:,} bytes" if counted else str(error)


def persist(work: Callable[[], T], patience: Patience, sentence: Callable[[str], str]) -> T:
    """What `work` returns, as soon as it does; for work that begins anew each time."""
    attempts = Attempts(patience, sentence)
    while True:
        try:
            return work()
        except TransientError as error:
            attempts.failed(error)


def seconds_to_wait(pause: float, failures: int, retry_after: float) -> float:
    """Exponential back-off with jitter, but not before the server wants to be asked; never for long."""
    backed_off = pause * 2.0 ** (failures - 1) * random.uniform(0.5, 1.0)
    return min(LONGEST_PAUSE, max(backed_off, retry_after))


def seconds_asked(header: str) -> float:
    """Of `Retry-After`: seconds, or a date; 0 where it says neither.

    >>> seconds_asked("7"), seconds_asked("soon"), seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT")
    (7.0, 0.0, 0.0)
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        wait = date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):  # Of a date that is none, each in its own way.
        return 0.0
    return max(0.0, wait.total_seconds())
