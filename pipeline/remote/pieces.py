"""The body of an answer piece by piece, whoever sends it: what breaks, falls silent or drips is told apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import urllib3

from pipeline.remote.failures import CutShortError, TooSlowError, TransientError


@dataclass(frozen=True)
class Pace:
    """What a connection must bring: `slowest` bytes a second, over `window` seconds."""

    slowest: float = 10_000
    window: float = 60


PACE = Pace()


def read_pieces(
    read: Callable[[int], bytes],
    length: int,
    *,
    silence: float,
    pace: Pace = PACE,
    left: int | None = None,
    broken: tuple[type[Exception], ...] = (urllib3.exceptions.HTTPError, OSError),
) -> Iterator[bytes]:
    """What `read` gives, at most `length` bytes at a time and `left` in all.

    It raises urllib3's timeouts after `silence` seconds, and `broken`. Only the time spent in it is held against the
    pace: a disk or a processor may be slow. A piece is not held while the next is read.
    """
    waited, received = 0.0, 0
    while left is None or left > 0:
        began = time.monotonic()
        try:
            piece = read(length if left is None else min(length, left))
        except (urllib3.exceptions.TimeoutError, TimeoutError) as error:
            raise TransientError(f"it sent nothing for {silence:g} seconds") from error
        except broken as error:
            raise CutShortError("the connection broke") from error
        if not piece:
            return
        waited += time.monotonic() - began
        received += len(piece)
        left = None if left is None else left - len(piece)
        yield piece
        del piece
        if waited > pace.window and left != 0:
            _check(received / waited, pace)
            waited, received = 0.0, 0


def _check(rate: float, pace: Pace) -> None:
    if rate < pace.slowest:
        raise TooSlowError(f"it is too slow ({rate / 1000:.1f} kB/s)")
