"""Which files were hashed since the machine started, so that gigabytes are not read again by every command.

    <store>/.hashed.json   of each file: device, inode, size, times, checksum; and the boot that they were noted in

A file whose device, inode, size, time of change (mtime) and time of any change (ctime) are those of its note holds the
bytes that were hashed. No program sets a ctime, so `touch -r`, `cp -p` and os.utime do not hide a change. A note is
believed until the machine starts anew: what changes a disk from outside does so while it is off.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from pipeline.store.files import whole_file
from pipeline.text.sealed_json import checksum_of, sealed

FILE = ".hashed.json"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
SETTLED_NS = 2 * 10**9
"""A file must not have been changed for so long when its reading begins: time stamps have ticks, of up to two seconds,
and a change in the tick of the one before leaves them as they are."""
MOST = 20_000
"""Notes that are kept, the newest."""

Note: TypeAlias = list[Any]


class HashNotes:
    """The notes in a folder; none are kept without one, or where the system does not tell one boot from another."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / FILE
        self._known: dict[str, Note] | None = None
        self._new: dict[str, Note] = {}

    def digest(self, path: Path, what: str, found: os.stat_result) -> str | None:
        """The checksum of a file that is as it was when it was hashed; None of any other. what: which part of it."""
        if self._file is None:
            return None
        if self._known is None:
            self._known = _read(self._file)
        note = self._new.get(_key(path, what)) or self._known.get(_key(path, what))
        return str(note[-1]) if note is not None and note[:-1] == _stamp(found) else None

    def note(self, path: Path, what: str, found: os.stat_result, began_ns: int, digest: str) -> None:
        """Keep a checksum. found: the state of the file before the reading, which began at `began_ns`."""
        if self._file is not None and began_ns - found.st_ctime_ns > SETTLED_NS:
            self._new[_key(path, what)] = [*_stamp(found), digest]

    def save(self) -> None:
        """Write what is new, beside what others have noted meanwhile. Where that cannot be, files are read again."""
        if self._file is None or not self._new or not (boot := boot_id()):
            return
        notes = dict(list((_read(self._file) | self._new).items())[-MOST:])
        with suppress(OSError), whole_file(self._file, durable=False) as temporary:
            temporary.write_text(json.dumps(sealed({"boot": boot, "files": notes})), encoding="ascii")
        self._known, self._new = notes, {}


def boot_id() -> str:
    """Another one each time the machine starts; empty where nobody tells."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def now_ns() -> int:
    """By the clock that files are stamped with."""
    return time.time_ns()


def _key(path: Path, what: str) -> str:
    """A checksum: the names of a user's folders are nobody else's business."""
    return hashlib.sha256(f"{path.resolve()}\n{what}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _stamp(found: os.stat_result) -> Note:
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _read(file: Path) -> dict[str, Note]:
    """Those of this boot; none from a file that is not as it was written."""
    try:
        found = json.loads(file.read_text(encoding="ascii"))
        if found["checksum"] != checksum_of(found) or not found["boot"] or found["boot"] != boot_id():
            return {}
        notes = dict(found["files"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {key: note for key, note in notes.items() if isinstance(note, list) and len(note) == 6}
