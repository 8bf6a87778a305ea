"""What a remote object is to the rest: a name, a size, a version tag, and byte ranges on demand."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

PIECE = 1 << 22
"""What is read, packed and written at a time: with smaller pieces threads wait more often for each other."""
CAREFUL = 1 << 16
"""What is read at a time once a connection broke: no more is lost the next time."""
ATTEMPTS = 7
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


@dataclass(frozen=True)
class Identity:
    """What tells one version of a remote object from another."""

    size: int
    etag: str


class RemoteError(Exception):
    """A request that will not succeed by trying again: one sentence with the remedy."""


class NotRangedError(Exception):
    """The server answers a request for a range with the whole object."""


class TransientError(Exception):
    """A request that may succeed when it is tried again."""


class RemoteObject(Protocol):
    """`stream` yields the bytes start..stop−1 in pieces of at most `length` and may stop short; `fetch` is what checks.

    `stream_whole` yields the bytes from the first to stop−1, without asking for a range.
    """

    @property
    def name(self) -> str: ...

    def identify(self) -> Identity: ...

    def stream(self, start: int, stop: int, length: int) -> Iterator[bytes]: ...

    def stream_whole(self, stop: int) -> Iterator[bytes]: ...


def fetch(
    remote: RemoteObject, start: int, stop: int, length: int, progress: Callable[[int], object]
) -> Generator[bytes, None, None]:
    """The bytes start..stop−1 in blocks of `length`, the last may be shorter; all of them, or an error.

    What arrived before a connection broke is kept and the rest asked for again. `progress` is called with the number of
    new bytes. A piece that is a block is passed on as it is, and nobody should hold it while the next is read: that
    then has the same memory, and to copy or to take fresh memory costs as much time as to pack.
    """
    kept = bytearray()
    position, failures = start, 0
    while position < stop:
        before = position
        try:
            for piece in remote.stream(position, stop, min(CAREFUL, length) if failures else length):
                position += len(piece)
                if position > stop:
                    raise RemoteError(
                        f"{remote.name} sent more bytes than were asked for; the server cannot be trusted."
                    )
                progress(len(piece))
                if not kept and len(piece) == length:
                    yield piece
                else:
                    kept += piece
                del piece
                if len(kept) >= length:
                    yield bytes(kept[:length])
                    del kept[:length]
            if position < stop:
                raise TransientError("the answer ended early")
        except TransientError as error:
            failures = 1 if position > before else failures + 1
            if failures >= ATTEMPTS:
                raise RemoteError(
                    f"{remote.name} could not be read after {ATTEMPTS} attempts ({error}); "
                    "what is complete is kept, so run the command again later."
                ) from error
            pause(failures)
    if kept:
        yield bytes(kept)


def retry_identify(remote: RemoteObject) -> Identity:
    """Size and tag, with the same patience."""
    for failures in range(1, ATTEMPTS + 1):
        try:
            return remote.identify()
        except TransientError as error:
            if failures == ATTEMPTS:
                raise RemoteError(f"{remote.name} does not answer ({error}); try again later.") from error
            pause(failures)
    raise AssertionError("unreachable")


def pause(failures: int) -> None:
    """Exponential back-off with jitter."""
    time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1)) * random.uniform(0.5, 1.0))
