"""A file over HTTP whose size and md5 are known before it is asked for, into a part that outlives a kill.

Unlike rows (`fetch`), it is of use only as a whole, may be had from several servers, and each goes on with what the
last one left; the md5 tells whether the parts belong together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.remote.failures import ChangedError, CutShortError, RemoteError, TransientError
from pipeline.remote.http import HttpObject
from pipeline.remote.patience import Attempts, Patience

CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class Archive:
    """What is known of a file before it is fetched."""

    size: int
    md5: str


def download(
    remote: HttpObject, part: Path, archive: Archive, patience: Patience, progress: Callable[[int], object]
) -> None:
    """Make `part` the archive; what an earlier attempt left there is not fetched again, unless the md5 is wrong.

    `progress` is called with the number of bytes that are there. What cannot be had is a `RemoteError`.
    """
    for resumed in (size_of(part) > 0, False):
        _fill(remote, part, archive.size, patience, progress)
        with part.open("rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if found == archive.md5:
            return
        part.unlink()
        if not resumed:  # else the fault may lie in what was there before
            brief = f"what it sent has md5 {found}, not {archive.md5}"
            raise RemoteError(f"{remote.name} cannot be used: {brief}; use another server.", brief)


def size_of(part: Path) -> int:
    """Bytes that are there; 0 where there is no such file."""
    return part.stat().st_size if part.is_file() else 0


def _fill(remote: HttpObject, part: Path, size: int, patience: Patience, progress: Callable[[int], object]) -> None:
    """Go on with `part` until it has `size` bytes; an object that changes meanwhile is begun anew, once."""
    if size_of(part) > size:
        part.unlink()
    attempts = Attempts(
        patience, lambda reason: f"{remote.name} cannot be had ({reason}).", total=size, done=size_of(part)
    )
    changed = False
    while size_of(part) < size:
        try:
            _append(remote, part, size, progress)
        except TransientError as error:
            attempts.failed(error, size_of(part))
        except ChangedError:
            if changed:
                raise
            changed = True
            part.unlink(missing_ok=True)
            remote.forget()


def _append(remote: HttpObject, part: Path, size: int, progress: Callable[[int], object]) -> None:
    """One request for what `part` lacks; written from the start if the server knows no ranges."""
    with remote.ask(size_of(part)) as answer, part.open("ab" if answer.start else "wb") as file:
        position = answer.start
        progress(position)
        for piece in answer.pieces(CHUNK_BYTES, left=size - position, as_they_come=True):
            file.write(piece)
            position += len(piece)
            progress(position)
    if position < size:
        raise CutShortError("it ended")
