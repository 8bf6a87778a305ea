"""Checksums of files and of parts of files, by all cores, and once per file and boot (`hash_notes`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.internal.threads import in_threads
from pipeline.progress import progress_bar
from pipeline.store.hash_notes import HashNotes, now_ns

ALWAYS_HASHED_BYTES = 2**20
"""Smaller files are hashed each time: it costs no more than to look whether they were."""
SHOWN_BYTES = 256 * 2**20
"""From so many on there is a bar."""
BLOCK = 2**20
WHOLE = ""


@dataclass(frozen=True)
class Part:
    """The bytes start..start+length−1 of a file, all that come after `start` without a length; what its sha256 must be,
    if that is known."""

    start: int = 0
    length: int | None = None
    expected: str = ""


class Hashing:
    """Checksums with the notes in `folder`; without one, everything is read. threads: None is one for each core."""

    def __init__(self, folder: Path | None = None, *, quiet: bool = True, threads: int | None = None) -> None:
        self._notes = HashNotes(folder)
        self._quiet, self._threads = quiet, threads

    def digests(self, paths: Sequence[Path]) -> list[str]:
        """The sha256 of the content of each file, in hex."""
        found = self._digests(paths)
        for one in found:
            if isinstance(one, OSError):
                raise one
        return [str(one) for one in found]

    def problems(self, expected: Mapping[Path, str]) -> dict[Path, str]:
        """Why files do not have the sha256 that they must have, each for a sentence; nothing of those that have it."""
        words = {}
        for (path, digest), found in zip(expected.items(), self._digests(list(expected)), strict=True):
            if isinstance(found, OSError):
                words[path] = f"it cannot be read ({found.strerror})"
            elif found != digest:
                words[path] = "its checksum has changed"
        return words

    def damaged(self, path: Path, ranges: Sequence[Sequence[Any]]) -> list[int]:
        """Which of these [offset, bytes, sha256] of a file are not what they were, by their number."""
        what = hashlib.sha256(json.dumps([list(one) for one in ranges]).encode()).hexdigest()
        if self._known(path, what) == what:
            return []
        reading = _Reading(path, what, [Part(int(start), int(length), digest) for start, length, digest in ranges])
        self._read([reading])
        return [k for k, part in enumerate(reading.parts) if reading.digests[k] != part.expected]

    @contextmanager
    def used(self) -> Iterator[None]:
        """Whoever asks for `current` inside gets this one."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def _digests(self, paths: Sequence[Path]) -> list[str | OSError]:
        known = [self._known(path, WHOLE) for path in paths]
        unread = [_Reading(path, WHOLE, [Part()]) for path, digest in zip(paths, known, strict=True) if digest is None]
        self._read(unread)
        read = iter(unread)
        return [next(read).digests[0] if digest is None else digest for digest in known]

    def _known(self, path: Path, what: str) -> str | None:
        found = path.stat()
        return None if found.st_size < ALWAYS_HASHED_BYTES else self._notes.digest(path, what, found)

    def _read(self, readings: Sequence[_Reading]) -> None:
        """All parts of all files, the longest first, so that no thread is left with it at the end."""
        work = [(reading, k) for reading in readings for k in range(len(reading.parts))]
        work.sort(key=lambda one: -one[0].length(one[1]))
        size = sum(reading.length(k) for reading, k in work)
        threads = min(len(work), self._threads or available_cores()) if size > ALWAYS_HASHED_BYTES else 1
        with progress_bar(size if size >= SHOWN_BYTES else 0, "B", "checksums", self._quiet) as advance:
            in_threads(lambda one: one[0].read(one[1], advance), work, max(1, threads))
        for reading in readings:
            if reading.is_right():
                reading.note(self._notes)
        self._notes.save()


class _Reading:
    """Parts of one file. what: by which they are noted; that of parts with known checksums is noted for all or none."""

    def __init__(self, path: Path, what: str, parts: Sequence[Part]) -> None:
        self.path, self.what, self.parts = path, what, parts
        self.began, self.found = now_ns(), path.stat()
        self.digests: list[str | OSError] = [""] * len(parts)

    def length(self, k: int) -> int:
        length = self.parts[k].length
        return self.found.st_size if length is None else length

    def read(self, k: int, advance: Callable[[float], object]) -> None:
        part = self.parts[k]
        try:
            self.digests[k] = part_digest(self.path, part.start, part.length, advance)
        except OSError as error:
            self.digests[k] = error

    def is_right(self) -> bool:
        pairs = zip(self.parts, self.digests, strict=True)
        return all(isinstance(digest, str) and part.expected in ("", digest) for part, digest in pairs)

    def note(self, notes: HashNotes) -> None:
        """As it was before the reading: what changed meanwhile has another time of change than its note."""
        if self.found.st_size >= ALWAYS_HASHED_BYTES:
            notes.note(self.path, self.what, self.found, self.began, self.what or str(self.digests[0]))


def part_digest(path: Path, start: int, length: int | None, advance: Callable[[float], object]) -> str:
    """The sha256 of so many bytes of a file, or of all after `start`; of fewer where it ends. Read now."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        return _digest(file, length, advance)


def _digest(file: FileIO, length: int | None, advance: Callable[[float], object]) -> str:
    whole, block, left = hashlib.sha256(), memoryview(bytearray(BLOCK)), length
    while left is None or left > 0:
        got = file.readinto(block if left is None or left >= BLOCK else block[:left])
        if not got:
            break
        whole.update(block[:got])
        left = None if left is None else left - got
        advance(got)
    return whole.hexdigest()


_current: ContextVar[Hashing | None] = ContextVar("hashing", default=None)


def current() -> Hashing:
    """That of the store which a command works on; one without notes where there is none."""
    return _current.get() or Hashing()
