"""What a remote object is to the rest: a name, a size, a version tag, and byte ranges on demand."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

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
    """`stream` yields the bytes start..stop−1 in pieces and may stop short; `fetch` is what checks the length.

    `stream_whole` yields the bytes from the first to stop−1, without asking for a range.
    """

    @property
    def name(self) -> str: ...

    def identify(self) -> Identity: ...

    def stream(self, start: int, stop: int) -> Iterator[bytes]: ...

    def stream_whole(self, stop: int) -> Iterator[bytes]: ...


def fetch(
    remote: RemoteObject, start: int, stop: int, progress: Callable[[int], object], room: bytearray | None = None
) -> memoryview:
    """The bytes start..stop−1, whole: whatever arrived before a connection broke is kept and the rest asked for again.

    `progress` is called with the number of new bytes. `room` is used instead of new memory; fresh pages cost more time
    than the network does.
    """
    wanted = stop - start
    content = memoryview(bytearray(wanted) if room is None else room)[:wanted]
    filled = failures = 0
    while filled < wanted:
        before = filled
        try:
            for piece in remote.stream(start + filled, stop):
                if len(piece) > wanted - filled:
                    raise RemoteError(
                        f"{remote.name} sent more bytes than were asked for; the server cannot be trusted."
                    )
                content[filled : filled + len(piece)] = piece
                filled += len(piece)
                progress(len(piece))
            if filled < wanted:
                raise TransientError("the answer ended early")
        except TransientError as error:
            failures = 1 if filled > before else failures + 1
            if failures >= ATTEMPTS:
                raise RemoteError(
                    f"{remote.name} could not be read after {ATTEMPTS} attempts ({error}); "
                    "what is complete is kept, so run the command again later."
                ) from error
            pause(failures)
    return content


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
