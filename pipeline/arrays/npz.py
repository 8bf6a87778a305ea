"""Archives of named arrays, .npz: what an array would unpack to is known, and bearable, before it is unpacked."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays.npy import read_header
from pipeline.text.numbers import human_bytes

ENDING = ".npy"
FREE_BYTES = 256 * 2**20
LARGEST_RATIO = 250
"""An array that is larger than FREE_BYTES may be so many times as large as it is packed: zeros pack 1,000 to one. The
same holds of all arrays together that are read of an archive."""
KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CHUNK = 2**22


class ArrayArchive(Mapping[str, NDArray[Any]]):
    """The arrays of an .npz file, each read when it is asked for. What is wrong with it is a ValueError.

    files: their names.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, os.SEEK_END)
        file.seek(0)
        try:
            self._archive = zipfile.ZipFile(file)
            entries = self._archive.infolist()
        except Exception as error:  # A directory of numbers that anyone may have written fails in any way.
            raise ValueError(f"it is no .npz archive ({' '.join(str(error).split())[:80]})") from error
        self._entries = {entry.filename.removesuffix(ENDING): entry for entry in entries}
        self.files = list(self._entries)
        self._read: dict[str, int] = {}

    def __enter__(self) -> ArrayArchive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        self._archive.close()
        self._file.close()

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One array, as it was saved."""
        if name not in self._entries:
            raise ValueError(f"`{name}` is missing")
        entry = self._entries[name]
        check_packing(name, entry, self._size)
        self._read[name] = entry.file_size
        check_size("what is read of it", sum(self._read.values()), self._size)
        try:
            with self._archive.open(entry) as stream:
                return _read(name, stream, entry.file_size)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
            raise ValueError(f"`{name}` is damaged ({' '.join(str(error).split())[:80]})") from error

    def read(self) -> dict[str, NDArray[Any]]:
        """All of them."""
        return {name: self[name] for name in self.files}


def check_packing(name: str, entry: zipfile.ZipInfo, size: int) -> None:
    """What an archive of `size` bytes says of one of its parts, before that is unpacked; ValueError if it is too much
    to be true."""
    packed, unpacked = entry.compress_size, entry.file_size
    if entry.compress_type not in KINDS or entry.flag_bits & 1:
        raise ValueError(f"`{name}` is packed in a way that numpy does not")
    if not 0 <= packed <= size or (entry.compress_type == zipfile.ZIP_STORED and packed != unpacked):
        raise ValueError(f"`{name}` is damaged: its size is not what the archive says")
    check_size(f"`{name}`", unpacked, packed)


def check_size(what: str, unpacked: int, packed: int) -> None:
    """Refuse with a ValueError what would be far larger than it is packed."""
    if unpacked > max(FREE_BYTES, LARGEST_RATIO * packed):
        raise ValueError(
            f"{what} would be {human_bytes(unpacked)} from {human_bytes(packed)}, which is hardly an array of "
            "anything; if it is one, save it without compression, with numpy.savez"
        )


def _read(name: str, stream: Any, size: int) -> NDArray[Any]:
    try:
        header = read_header(stream)
    except ValueError as error:
        raise ValueError(f"`{name}`: {error}") from error
    if header.offset + header.n_bytes != size:
        raise ValueError(f"`{name}` has {size:,} bytes where its header promises {header.offset + header.n_bytes:,}")
    flat = np.empty(header.n_bytes, np.uint8)
    place = 0
    while place < len(flat):
        piece = stream.read(min(CHUNK, len(flat) - place))
        if not piece:
            raise ValueError(f"`{name}` ends early")
        flat[place : place + len(piece)] = np.frombuffer(piece, np.uint8)
        place += len(piece)
    stream.read(1)  # At its end, the archive's own checksum is looked at.
    array = flat.view(header.dtype)
    return array.reshape(header.shape[::-1]).T if header.fortran else array.reshape(header.shape)


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of a file."""
    with open_npz(path) as archive:
        return archive.read()


def open_npz(path: Path) -> ArrayArchive:
    """The archive in a file, to be used in a `with`; an OSError if there is none, a ValueError if it is another one."""
    file = path.open("rb")
    try:
        return ArrayArchive(file)
    except ValueError:
        file.close()
        raise
