"""The local copy of a part of a remote object: rows as they are needed, each fetched once.

    <store>/objects/<id>/object.json   what it is a copy of: name, size, tag, rows
    <store>/objects/<id>/array.npy     the rows, transformed; sparse: only fetched rows take space
    <store>/objects/<id>/rows.jsonl    a line for each run of rows that is complete, with its checksum

A line is appended after its rows are written, so a process killed at any byte loses only what was under way.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.remote.objects import Identity
from pipeline.text.numbers import human_bytes

Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Rows:
    """How raw rows become stored rows."""

    n_rows: int
    raw_row_bytes: int
    raw_offset: int
    shape: tuple[int, ...]
    dtype: str
    transform: Callable[[NDArray[np.uint8]], NDArray[Any]]

    @property
    def stored_row_bytes(self) -> int:
        """Of one row as it is stored."""
        return int(np.prod(self.shape[1:], dtype=np.int64)) * np.dtype(self.dtype).itemsize


class Mirror:
    """A folder of the store for one remote object and one way to store its rows."""

    def __init__(self, home: Path, name: str, identity: Identity, rows: Rows, kind: str) -> None:
        self.id = hashlib.sha256(f"{name}\n{kind}".encode()).hexdigest()[:16]
        self.folder = home / self.id
        self.rows = rows
        self._lock = threading.Lock()
        raw = len(rows.shape) == 1  # A file of another kind than .npy is kept byte for byte.
        self.file = self.folder / (f"file{Path(name.partition('?')[0]).suffix}" if raw else "array.npy")
        with telling_a_full_disk(self.folder, lambda: rows.n_rows * rows.stored_row_bytes):
            self._describe(name, identity, kind)
            self._header = b"" if raw else _header(rows.dtype, rows.shape)
            if not self.file.exists():
                self._create()
            self._mend_header()
        self.done = self._read_done()

    def _describe(self, name: str, identity: Identity, kind: str) -> None:
        """Refuse to mix two versions of a remote object."""
        note = self.folder / "object.json"
        description = {"name": name, "kind": kind, **asdict(identity), "shape": list(self.rows.shape)}
        if note.is_file():
            known = json.loads(note.read_text(encoding="utf-8"))
            if known != description:
                raise BadInputError(
                    f"{name} has changed since rows of it were fetched (size {known['size']}, tag {known['etag']} → "
                    f"size {identity.size}, tag {identity.etag}); delete {self.folder} to fetch the new one."
                )
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = note.with_suffix(".part")
        temporary.write_text(json.dumps(description), encoding="utf-8")
        temporary.replace(note)

    def _create(self) -> None:
        """An empty sparse file of the full size."""
        temporary = self.folder / "array.part"
        temporary.write_bytes(self._header)
        os.truncate(temporary, len(self._header) + self.rows.n_rows * self.rows.stored_row_bytes)
        temporary.replace(self.file)

    def _mend_header(self) -> None:
        """Whatever happened to it: the rows, which have checksums, are read by it, and it is known what it must be."""
        with self.file.open("r+b") as file:
            if file.read(len(self._header)) != self._header:
                file.seek(0)
                file.write(self._header)

    def _read_done(self) -> dict[Interval, str]:
        """Complete runs of rows; a half-written last line is passed over."""
        done: dict[Interval, str] = {}
        journal = self.folder / "rows.jsonl"
        text = journal.read_text(encoding="utf-8") if journal.is_file() else ""
        if text and not text.endswith("\n"):
            with journal.open("a", encoding="utf-8") as file:
                file.write("\n")
        for line in text.splitlines():
            try:
                start, stop, digest = json.loads(line)
            except ValueError:
                continue
            if digest is None:
                done.pop((start, stop), None)
            else:
                done[start, stop] = digest
        return done

    def missing(self, wanted: Iterable[Interval]) -> list[Interval]:
        """What of `wanted` has not been fetched."""
        return subtract(wanted, self.done)

    def write(self, start: int, stop: int, blocks: Iterable[bytes | bytearray]) -> None:
        """Store rows start..stop−1 from blocks of whole raw rows, then note that they are complete.

        A block is packed, hashed and written while it is in the processor's cache; threads wait for each other only to
        note.
        """
        digest, row = hashlib.sha256(), start
        with self.file.open("r+b", buffering=0) as file:
            for block in blocks:
                stored = self._transform(block)
                digest.update(stored.data)
                _put(file.fileno(), stored, len(self._header) + row * self.rows.stored_row_bytes)
                row += len(stored)
                del block, stored  # So that the next block has their memory.
        assert row == stop, (row, start, stop)
        with self._lock:
            self._note(start, stop, digest.hexdigest())

    def _transform(self, block: bytes | bytearray) -> NDArray[np.uint8]:
        values = np.frombuffer(block, np.uint8).reshape(-1, self.rows.raw_row_bytes)
        return np.ascontiguousarray(self.rows.transform(values)).view(np.uint8).reshape(len(values), -1)

    def _note(self, start: int, stop: int, digest: str | None) -> None:
        with (self.folder / "rows.jsonl").open("a", encoding="utf-8") as journal:
            journal.write(json.dumps([start, stop, digest]) + "\n")
        if digest is None:
            self.done.pop((start, stop), None)
        else:
            self.done[start, stop] = digest

    def drop_damaged(self, wanted: Sequence[Interval]) -> list[Interval]:
        """Forget complete rows whose bytes are no longer what was written; return them."""
        damaged = []
        for (start, stop), digest in list(self.done.items()):
            if any(start < b and a < stop for a, b in wanted) and self._digest(start, stop) != digest:
                self._note(start, stop, None)
                damaged.append((start, stop))
        return damaged

    def _digest(self, start: int, stop: int) -> str:
        with self.file.open("rb") as file:
            file.seek(len(self._header) + start * self.rows.stored_row_bytes)
            return hashlib.sha256(file.read((stop - start) * self.rows.stored_row_bytes)).hexdigest()

    def checksums(self, wanted: Sequence[Interval]) -> list[list[Any]]:
        """[offset, bytes, sha256] of the header and of every complete run that overlaps `wanted`, for the stage's
        manifest."""
        width = self.rows.stored_row_bytes
        header = [[0, len(self._header), hashlib.sha256(self._header).hexdigest()]] if self._header else []
        return header + [
            [len(self._header) + start * width, (stop - start) * width, digest]
            for (start, stop), digest in sorted(self.done.items())
            if any(start < b and a < stop for a, b in wanted)
        ]


@contextmanager
def telling_a_full_disk(folder: Path, needed: Callable[[], int]) -> Iterator[None]:
    """One sentence where there is no room; `needed` says then how many bytes are still to be stored."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        raise BadInputError(
            f"the disk of {folder} is full ({error.strerror}): {human_bytes(needed())} are needed; free some space, or "
            "give --store a folder on a larger disk, and run again: what is complete is kept."
        ) from error


def subtract(wanted: Iterable[Interval], done: Iterable[Interval]) -> list[Interval]:
    """The parts of `wanted` that no interval of `done` covers, in order.

    >>> subtract([(0, 10), (20, 30)], [(2, 4), (8, 22)])
    [(0, 2), (4, 8), (22, 30)]
    """
    covered = sorted(done)
    result: list[Interval] = []
    for start, stop in sorted(wanted):
        for a, b in covered:
            if b <= start or a >= stop:
                continue
            if a > start:
                result.append((start, a))
            start = max(start, b)
        if start < stop:
            result.append((start, stop))
    return result


def split(intervals: Iterable[Interval], longest: int) -> list[Interval]:
    """The same rows in pieces of at most `longest`."""
    return [(a, min(a + longest, stop)) for start, stop in intervals for a in range(start, stop, longest)]


def _put(handle: int, content: NDArray[np.uint8], place: int) -> None:
    """All bytes; where a disk has room for some, the next call says that it is full."""
    left = content.data.cast("B")
    while left:
        written = os.pwrite(handle, left, place)
        left, place = left[written:], place + written


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Of the .npy file of such an array."""
    stream = BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()
