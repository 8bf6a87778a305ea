"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError

PART = ".part-"
"""Beginning of the names of files that are being written; a killed process may leave one."""
LONGEST_PART = 255
"""Bytes of a file's name, on all common file systems."""
HASHED_BYTES = 256 * 2**20


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, of the same ending; moved over it when the block ends well, deleted when not."""
    handle, name = mkstemp(prefix=PART, suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def file_digest(path: Path) -> str:
    """The sha256 of its content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> Any:
    """What tells the content of a file, or of all files of a folder, from another: checksums, of very large files the
    place, size and time. JSON."""
    if path.is_dir():
        files = (p for p in sorted(path.rglob("*")) if p.is_file() and not p.name.startswith("."))
        return {p.relative_to(path).as_posix(): identity(p) for p in files}
    found = path.stat()
    if found.st_size <= HASHED_BYTES:
        return file_digest(path)
    return [str(path.resolve()), found.st_size, found.st_mtime_ns]


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], *, compress: bool = False) -> None:
    """An .npz without pickles and without the time of day, so that equal arrays give equal bytes."""
    with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def check_place(path: Path, option: str) -> None:
    """Refuse a path that no file or folder can have: under a file, a link to nothing, too long, with a NUL or bytes
    that are no text."""
    try:
        if any(len(part.encode("utf-8")) > LONGEST_PART for part in path.parts):  # Also below what is not there yet.
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        dead = stat.S_ISLNK(os.lstat(path).st_mode) and not path.exists()
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInputError(f"{option} {path} cannot be made ({error.strerror}); name another place.") from error
    except ValueError as error:  # UnicodeEncodeError is one.
        raise BadInputError(f"{option} {str(path)!a} is no name of a file; name another place.") from error
    if dead:
        raise BadInputError(f"{option} {path} is a link to nothing; name another place.")


def make_folder(path: Path, option: str) -> Path:
    """`path` as a writable folder, made if missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{option} {path} cannot be made a folder ({error.strerror}); name another one.") from error
    except ValueError as error:
        raise BadInputError(f"{option} {str(path)!a} is no name of a folder; name another one.") from error
    if not os.access(path, os.W_OK):
        raise BadInputError(f"{option} {path} is not writable; name another folder.")
    return path
