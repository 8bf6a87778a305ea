"""Which rows of a mirror are complete: `rows.jsonl`, a line for each run of rows, [first, last + 1, sha256, check].

The sha256 is of the rows as they are stored, null where they are complete no longer; the check is of the line itself,
and of the mirror's name. Lines of earlier versions have none. What is not as it was written is forgotten, so that its
rows are fetched again: a line too few costs megabytes, one too many would be a wrong number.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from datamodels_inf.row_blocks import RowRange
from pipeline.store.files import flush, put_aside, whole_file

CHECK = 8
"""Hex digits."""


class Journal:
    """That of the mirror in `folder`, of so many rows. done: what is complete. problem: what was wrong with the file,
    in words, or nothing; it is mended then, unless somebody only looks."""

    def __init__(self, folder: Path, n_rows: int, *, mend: bool = True) -> None:
        self.file = folder / "rows.jsonl"
        self.done: dict[RowRange, str] = {}
        self.problem = ""
        self._n_rows, self._mend = n_rows, mend
        self._read()

    def note(self, start: int, stop: int, digest: str | None) -> None:
        """Rows start..stop−1 are complete, or, without a digest, no longer. On the disk when it returns."""
        new = not self.file.exists()
        with self.file.open("a", encoding="ascii") as file:
            file.write(self._line(start, stop, digest))
            file.flush()
            os.fsync(file.fileno())
        if new:
            flush(self.file.parent)
        _apply(self.done, start, stop, digest)

    def forget(self, intervals: Iterable[RowRange]) -> None:
        """These are not complete any more, whatever the file says."""
        for interval in list(intervals):
            self.done.pop(interval, None)
        self._rewrite()

    def _read(self) -> None:
        if not self.file.exists() and not self.file.is_symlink():
            return
        if not self.file.is_file() or self.file.is_symlink():  # What a link leads to may be anybody's.
            if self._mend:
                put_aside(self.file)
            self.problem = "it is no file; rows are fetched again"
            return
        *lines, unfinished = self.file.read_bytes().split(b"\n")
        bad = 0
        for line in lines:
            found = self._parsed(line)
            if found is None:
                bad += 1
            else:
                _apply(self.done, *found)
        crossing = _crossing(self.done)
        for interval in crossing:
            del self.done[interval]
        if bad or crossing:
            wrong = f"{bad + len(crossing):,} of its {len(lines):,} lines are not as they were written"
            self.problem = f"{wrong}; rows that only they name are fetched again"
        # Of a process that was killed, a line without an end is no damage.
        if self._mend and (bad or crossing or unfinished):
            self._rewrite()

    def _parsed(self, line: bytes) -> tuple[int, int, str | None] | None:
        """What a line says; None where it is not one of ours."""
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):  # A UnicodeDecodeError is one.
            return None
        if not isinstance(found, list) or len(found) not in (3, 4):
            return None
        start, stop, digest = found[:3]
        if type(start) is not int or type(stop) is not int or not 0 <= start < stop <= self._n_rows:
            return None
        if digest is not None and not (isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest)):
            return None
        if len(found) == 4 and found[3] != self._check(start, stop, digest):
            return None
        return start, stop, digest

    def _rewrite(self) -> None:
        with whole_file(self.file) as temporary:
            text = "".join(self._line(start, stop, digest) for (start, stop), digest in self.done.items())
            temporary.write_text(text, encoding="ascii")

    def _line(self, start: int, stop: int, digest: str | None) -> str:
        return json.dumps([start, stop, digest, self._check(start, stop, digest)]) + "\n"

    def _check(self, start: int, stop: int, digest: str | None) -> str:
        words = f"{self.file.parent.name} {start} {stop} {digest}"
        return hashlib.sha256(words.encode()).hexdigest()[:CHECK]


def _apply(done: dict[RowRange, str], start: int, stop: int, digest: str | None) -> None:
    if digest is None:
        done.pop((start, stop), None)
    else:
        done[start, stop] = digest


def _crossing(done: Iterable[RowRange]) -> set[RowRange]:
    """Intervals that share rows with another: rows are written once, so one of the two is not ours."""
    found: set[RowRange] = set()
    last: RowRange | None = None
    for one in sorted(done):
        if last is not None and one[0] < last[1]:
            found |= {last, one}
        if last is None or one[1] > last[1]:
            last = one
    return found
