"""Fetch the missing rows of remote objects: several ranges at a time, or in one stream where ranges are not served."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from datamodels_inf.row_blocks import RowRange
from pipeline.remote.failures import CutShortError, NotRangedError
from pipeline.remote.mirror import Mirror, split
from pipeline.remote.objects import ATTEMPTS, PIECE, RemoteObject, fetch, rows_patience
from pipeline.remote.patience import persist
from pipeline.store.disk import telling_of_the_disk

RUN_BYTES = 16 * 2**20
"""Rows of this many bytes are noted at a time: a killed process loses no more, for each connection."""
RUNS = 4
"""In one request: each request takes some milliseconds of Python, during which the other threads wait."""
CONNECTIONS = 6


@dataclass(frozen=True)
class Need:
    """A remote object, its mirror, and the rows that are wanted of it."""

    label: str
    remote: RemoteObject
    mirror: Mirror
    wanted: tuple[RowRange, ...]

    @property
    def missing(self) -> list[RowRange]:
        """The wanted rows that are not there yet."""
        return self.mirror.missing(self.wanted)

    @property
    def missing_bytes(self) -> int:
        """What is to be fetched."""
        return sum(b - a for a, b in self.missing) * self.mirror.rows.raw_row_bytes

    @property
    def stored_bytes(self) -> int:
        """Disk that the missing rows will take."""
        return sum(b - a for a, b in self.missing) * self.mirror.rows.stored_row_bytes


def fetch_missing(need: Need, progress: Callable[[int], object]) -> None:
    """Fetch what is missing; `progress` is called with the number of bytes that came."""
    with telling_of_the_disk(need.mirror.folder, "--store", needed=lambda: need.stored_bytes):
        try:
            fetch_ranges(need, progress)
        except NotRangedError:
            fetch_in_one_stream(need, progress)


def fetch_ranges(need: Need, progress: Callable[[int], object]) -> None:
    """Several ranges at a time, each written as it comes, and noted run by run."""
    rows = need.mirror.rows
    block = max(1, min(PIECE, RUN_BYTES) // rows.raw_row_bytes)
    run = max(1, RUN_BYTES // rows.raw_row_bytes // block) * block
    ranges = split(need.missing, RUNS * run)
    stopped = threading.Event()

    def one(part: RowRange) -> None:
        start, stop = (rows.raw_offset + row * rows.raw_row_bytes for row in part)
        with closing(fetch(need.remote, start, stop, block * rows.raw_row_bytes, progress)) as blocks:
            for first, last in split([part], run):
                if stopped.is_set():
                    return
                # The last run takes all that comes, so that too much is noticed.
                need.mirror.write(first, last, blocks if last == part[1] else islice(blocks, run // block))

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        futures = [pool.submit(one, part) for part in ranges]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


def fetch_in_one_stream(need: Need, progress: Callable[[int], object]) -> None:
    """Read the object from its start and keep the wanted rows; a broken stream begins anew, complete rows stay."""
    persist(
        lambda: _read_through(need, progress),
        rows_patience(),
        lambda reason: (
            f"{need.remote.name} could not be read after {ATTEMPTS} attempts ({reason}); the server serves no "
            "byte ranges, so each attempt begins at the start: try another server."
        ),
    )


def _read_through(need: Need, progress: Callable[[int], object]) -> None:
    rows = need.mirror.rows
    pieces = split(need.missing, max(1, RUN_BYTES // rows.raw_row_bytes))
    if not pieces:
        return
    position, buffer = 0, bytearray()
    end = rows.raw_offset + pieces[-1][1] * rows.raw_row_bytes
    for content in need.remote.stream_whole(end):
        buffer += content
        position += len(content)
        while pieces:
            start, stop = (rows.raw_offset + row * rows.raw_row_bytes for row in pieces[0])
            _discard(buffer, start - (position - len(buffer)))
            if position < stop:
                break
            need.mirror.write(*pieces.pop(0), [buffer[: stop - start]])
            progress(stop - start)
            del buffer[: stop - start]
    if pieces:
        raise CutShortError("it ended early")


def _discard(buffer: bytearray, count: int) -> None:
    if count > 0:
        del buffer[:count]
