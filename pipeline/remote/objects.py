"""What a remote object is to the rest: a name, a size, a version tag, and byte ranges on demand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

from pipeline.remote.failures import CutShortError, RemoteError, TransientError
from pipeline.remote.patience import Attempts, Patience, persist

PIECE = 1 << 22
"""What is read, packed and written at a time: with smaller pieces threads wait more often for each other."""
CAREFUL = 1 << 16
"""What is read at a time once a connection broke: no more is lost the next time."""
ATTEMPTS = 7
FIRST_PAUSE = 0.5


@dataclass(frozen=True)
class Identity:
    """What tells one version of a remote object from another."""

    size: int
    etag: str


class RemoteObject(Protocol):
    """What a kind of server must be able to do; each may raise a `TransientError` or a `RemoteError`."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def identify(self) -> Identity:
        """Size and tag; later answers of another version are a `ChangedError`."""

    def stream(self, start: int, stop: int, length: int) -> Iterator[bytes]:
        """The bytes start..stop−1 in pieces of at most `length`; it may stop short, `fetch` is what checks."""

    def stream_whole(self, stop: int) -> Iterator[bytes]:
        """The bytes from the first to stop−1, without asking for a range."""


def fetch(
    remote: RemoteObject, start: int, stop: int, length: int, progress: Callable[[int], object]
) -> Generator[bytes, None, None]:
    """The bytes start..stop−1 in blocks of `length`, the last may be shorter; all of them, or an error.

    What arrived before a connection broke is kept and the rest asked for again. `progress` is called with the number of
    new bytes. A piece that is a block is passed on as it is, and nobody should hold it while the next is read: that
    then has the same memory, and to copy or to take fresh memory costs as much time as to pack.
    """
    kept = bytearray()
    position = start
    attempts = Attempts(rows_patience(), lambda reason: _unread(remote, reason), total=stop - start)
    while position < stop:
        try:
            for piece in remote.stream(position, stop, min(CAREFUL, length) if attempts.failures else length):
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
                raise CutShortError("it ended")
        except TransientError as error:
            if position < stop:
                attempts.failed(error, position - start)
    if kept:
        yield bytes(kept)


def retry_identify(remote: RemoteObject) -> Identity:
    """Size and tag, with the same patience."""
    return persist(
        remote.identify, rows_patience(), lambda reason: f"{remote.name} does not answer ({reason}); try again later."
    )


def rows_patience() -> Patience:
    """With a source of rows: there is no other, so any byte gives new hope."""
    return Patience(ATTEMPTS, FIRST_PAUSE)


def _unread(remote: RemoteObject, reason: str) -> str:
    return (
        f"{remote.name} could not be read after {ATTEMPTS} attempts ({reason}); "
        "what is complete is kept, so run the command again later."
    )
