"""The local copy of a part of a remote object: rows as they are needed, each fetched once.

    <store>/objects/<id>/object.json   what it is a copy of: name, size, tag, rows
    <store>/objects/<id>/array.npy     the rows, transformed; sparse: only fetched rows take space
    <store>/objects/<id>/rows.jsonl    a line for each run of rows that is complete, with its checksum

A line is appended after its rows are on the disk, so a process killed, or a power loss, at any byte loses only what was
under way. What is damaged of all this is said in a line (`complaints`), forgotten and fetched again.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.row_blocks import RowRange
from pipeline.errors import BadInputError
from pipeline.remote.journal import Journal
from pipeline.remote.objects import Identity
from pipeline.store.disk import telling_of_the_disk
from pipeline.store.files import durable_folder, put_aside, whole_file
from pipeline.store.hashing import current
from pipeline.text.sealed_json import sealed, unsealed

NOTE = "object.json"
ARRAY = "array.npy"
DTYPES = ("uint8", "float16")
"""Of arrays in mirrors: packed masks, margins."""


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
        """Bytes of one row as it is stored."""
        return int(np.prod(self.shape[1:], dtype=np.int64)) * np.dtype(self.dtype).itemsize


class Mirror:
    """A folder of the store for one remote object and one way to store its rows.

    complaints: what of it was damaged, a line each, for whoever fetches its rows again.
    """

    def __init__(self, home: Path, name: str, identity: Identity, rows: Rows, kind: str) -> None:
        self.id = hashlib.sha256(f"{name}\n{kind}".encode()).hexdigest()[:16]
        self.folder = home / self.id
        self.rows = rows
        self.complaints: list[str] = []
        self._lock = threading.Lock()
        raw = len(rows.shape) == 1  # A file of another kind than .npy is kept byte for byte.
        self.file = self.folder / (f"file{Path(name.partition('?')[0]).suffix}" if raw else ARRAY)
        self._header = b"" if raw else array_header(rows.dtype, rows.shape)
        with telling_of_the_disk(self.folder, "--store", needed=lambda: rows.n_rows * rows.stored_row_bytes):
            if self.folder.exists() and not self.folder.is_dir():
                put_aside(self.folder)
            durable_folder(self.folder)
            self._journal = Journal(self.folder, rows.n_rows)
            if self._journal.problem:
                self._complain(self._journal.file, self._journal.problem)
            self._describe(name, identity, kind)
            self._open()

    @property
    def done(self) -> Mapping[RowRange, str]:
        """Complete runs of rows with the sha256 of what is stored."""
        return self._journal.done

    def _complain(self, path: Path, why: str) -> None:
        self.complaints.append(f"damaged  {path}: {why}")

    def _describe(self, name: str, identity: Identity, kind: str) -> None:
        """Refuse to mix two versions of a remote object; where it is not known any more of which one rows are, forget
        them."""
        note = self.folder / NOTE
        description = {"name": name, "kind": kind, **asdict(identity), "shape": list(self.rows.shape)}
        known = read_note(note)
        if known == description:
            return
        if known is not None:
            raise BadInputError(
                f"{name} has changed since rows of it were fetched (size {known['size']}, tag {known['etag']} → "
                f"size {identity.size}, tag {identity.etag}); delete {self.folder} to fetch the new one."
            )
        if note.exists() or self.done:
            self._complain(note, "it does not say what rows were fetched of; all are fetched again")
            self._journal.forget(self.done)
        if note.exists() and not note.is_file():
            put_aside(note)
        with whole_file(note) as temporary:
            temporary.write_text(json.dumps(sealed(description)), encoding="utf-8")

    def _open(self) -> None:
        """The file, made if it is not there, with the header and the size that it must have, whatever happened to it:
        the rows, which have checksums, are read by them."""
        if self._is_in_the_way():
            put_aside(self.file)
        if not self.file.exists():
            if self.done:
                self._complain(self.file, "it is missing; its rows are fetched again")
                self._journal.forget(self.done)
            self._create()
        if self.file.stat().st_size != self._size:
            os.truncate(self.file, self._size)
        if not self._is_as_made():
            with self.file.open("r+b") as file:
                file.write(self._header)

    def _is_in_the_way(self) -> bool:
        """Whether it is no file, or a link to one that is not just as we make it, which may be anybody's: a mirror that
        was moved to a larger disk is."""
        if self.file.is_symlink():
            return not (self.file.is_file() and self._is_as_made())
        return self.file.exists() and not self.file.is_file()

    def _is_as_made(self) -> bool:
        """Whether it has the size and the header that it must have."""
        with self.file.open("rb") as file:
            return self.file.stat().st_size == self._size and file.read(len(self._header)) == self._header

    @property
    def _size(self) -> int:
        return len(self._header) + self.rows.n_rows * self.rows.stored_row_bytes

    def _create(self) -> None:
        """An empty sparse file of the full size."""
        with whole_file(self.file) as temporary:
            temporary.write_bytes(self._header)
            os.truncate(temporary, self._size)

    def missing(self, wanted: Iterable[RowRange]) -> list[RowRange]:
        """What of `wanted` has not been fetched."""
        return subtract(wanted, self.done)

    def write(self, start: int, stop: int, blocks: Iterable[bytes | bytearray]) -> None:
        """Store rows start..stop−1 from blocks of whole raw rows, then note that they are complete and on the disk.

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
            os.fsync(file.fileno())
        with self._lock:
            self._journal.note(start, stop, digest.hexdigest())

    def _transform(self, block: bytes | bytearray) -> NDArray[np.uint8]:
        values = np.frombuffer(block, np.uint8).reshape(-1, self.rows.raw_row_bytes)
        return np.ascontiguousarray(self.rows.transform(values)).view(np.uint8).reshape(len(values), -1)

    def drop_damaged(self, wanted: Sequence[RowRange]) -> list[RowRange]:
        """Forget complete rows whose bytes are no longer what was written; return them."""
        parts, runs = self.checksums(wanted), self._overlapping(wanted)
        first = len(parts) - len(runs)  # Before it, the header, which was mended when the mirror was opened.
        damaged = [runs[k - first] for k in current().damaged(self.file, parts) if k >= first]
        for start, stop in damaged:
            self._journal.note(start, stop, None)
        return damaged

    def _overlapping(self, wanted: Sequence[RowRange]) -> list[RowRange]:
        return [(start, stop) for start, stop in sorted(self.done) if any(start < b and a < stop for a, b in wanted)]

    def checksums(self, wanted: Sequence[RowRange]) -> list[list[Any]]:
        """[offset, bytes, sha256] of the header and of every complete run that overlaps `wanted`, for the stage's
        manifest."""
        width = self.rows.stored_row_bytes
        header = [[0, len(self._header), hashlib.sha256(self._header).hexdigest()]] if self._header else []
        return header + [
            [len(self._header) + start * width, (stop - start) * width, self.done[start, stop]]
            for start, stop in self._overlapping(wanted)
        ]


def read_note(path: Path) -> dict[str, Any] | None:
    """What a mirror is a copy of; None where nothing says it, or not as it was written."""
    try:
        found = unsealed(json.loads(path.read_bytes()))
        types = {"name": str, "kind": str, "size": int, "etag": str, "shape": list}
        fits = found.keys() == types.keys() and all(type(found[name]) is kind for name, kind in types.items())
        if fits and found["shape"] and all(type(n) is int and n >= 0 for n in found["shape"]):
            return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return None


def subtract(wanted: Iterable[RowRange], done: Iterable[RowRange]) -> list[RowRange]:
    """The parts of `wanted` that no interval of `done` covers, in order.

    >>> subtract([(0, 10), (20, 30)], [(2, 4), (8, 22)])
    [(0, 2), (4, 8), (22, 30)]
    """
    covered = sorted(done)
    result: list[RowRange] = []
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


def split(intervals: Iterable[RowRange], longest: int) -> list[RowRange]:
    """The same rows in pieces of at most `longest`."""
    return [(a, min(a + longest, stop)) for start, stop in intervals for a in range(start, stop, longest)]


def _put(handle: int, content: NDArray[np.uint8], place: int) -> None:
    """All bytes; where a disk has room for some, the next call says that it is full."""
    left = content.data.cast("B")
    while left:
        written = os.pwrite(handle, left, place)
        left, place = left[written:], place + written


def array_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Of the .npy file of such an array."""
    stream = BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()
