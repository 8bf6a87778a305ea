"""Sums of margins between the choice of λ and the refit, in a file without a name: 0.4 MB a target at 50,000 images."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from datamodels_inf.internal.checks import Floats

FREE = 2 * 10**9
"""Bytes of the disk that are left free: results are to be written there too."""


class SumsFile:
    """A place for sums in `folder`, for as long as the process lives; it belongs to nobody after that.

    It is read and written, not mapped, so that it does not count as memory. Where the disk has no room for more, what
    does not fit is made again.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 — `__exit__` closes it.
        self._places: dict[bytes, tuple[int, int]] = {}
        self._end = 0

    def __enter__(self) -> SumsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def get(self, key: bytes) -> Floats | None:
        """What was put there."""
        if key not in self._places:
            return None
        start, length = self._places[key]
        self._file.seek(start)
        read = bytearray(length)
        return np.frombuffer(read) if self._file.readinto(read) == length else None

    def put(self, key: bytes, sums: Floats) -> None:
        """Append it, if there is room."""
        content = np.ascontiguousarray(sums, np.float64).tobytes()
        disk = os.fstatvfs(self._file.fileno()) if hasattr(os, "fstatvfs") else None
        if key in self._places or (disk is not None and disk.f_bavail * disk.f_frsize < FREE + len(content)):
            return
        self._file.seek(self._end)
        try:
            written = self._file.write(content)
        except OSError:  # Full, or a limit: it is only a shortcut.
            return
        if written == len(content):
            self._places[key] = self._end, written
            self._end += written
