"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError

PART = ".part-"
"""Beginning of the names of files that are being written; a killed process may leave one."""
PROVISIONAL = ".tmp-"
"""The same of folders."""
FLUSHED_AT_ONCE = 8
LONGEST_PART = 255
"""Bytes of a file's name, on all common file systems."""


@contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary path beside `path`, of the same ending; moved over it when the block ends well, deleted when not.

    durable: it is also whole after a power loss at any moment, for its bytes are on the disk before it has its name.
    Not needed of what can be copied again; not done below a folder that has not its own name yet (`PROVISIONAL`), which
    is then brought to the disk with all that is in it: to wait for each file costs more than to write it.
    """
    durable = durable and not any(part.startswith(PROVISIONAL) for part in path.absolute().parts)
    handle, name = mkstemp(prefix=PART, suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        if durable:
            flush(temporary)
        temporary.replace(path)
        if durable:
            flush(path.parent)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def remove_parts(folder: Path) -> None:
    """What killed processes left of `whole_file`; whoever calls it is the only one at work there."""
    for path in folder.glob(f"{PART}*"):
        with suppress(OSError):
            path.unlink()


def put_aside(path: Path) -> Path:
    """Give what stands where a file or folder of ours belongs another name, for whoever put it there."""
    numbers = range(1, 10_000)
    places = (path.with_name(f"{path.name}.aside-{number}") for number in numbers)
    free = next(place for place in places if not (place.exists() or place.is_symlink()))
    return path.rename(free)


def flush(path: Path) -> None:
    """Wait until a file's bytes, or the names in a folder, are on the disk, where that can be asked for."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # A folder, on Windows.
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # Of file systems that cannot.
            raise
    finally:
        os.close(handle)


def flush_tree(folder: Path) -> None:
    """The same of all files in a folder, of the folders in it, and of itself: names come after what they name.

    Several at a time, which disks bring together.
    """
    paths = sorted(folder.rglob("*"))
    with ThreadPoolExecutor(FLUSHED_AT_ONCE) as pool:
        list(pool.map(flush, (path for path in paths if not path.is_dir())))
        list(pool.map(flush, (path for path in paths if path.is_dir())))
    flush(folder)


def durable_folder(path: Path) -> None:
    """Make a folder, with those above it that are missing, and wait until their names are on the disk."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for one in reversed(missing):
        flush(one.parent)


def file_digest(path: Path) -> str:
    """The sha256 of its content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_digest(path: Path, digest: str) -> bool:
    """Whether it is a file of just this content."""
    return path.is_file() and file_digest(path) == digest


def save_array(path: Path, array: NDArray[Any]) -> None:
    """The bytes of `numpy.save`, straight into `path`, and an error where the disk has no room for all of them.

    Numpy hands arrays to C's buffers and does not ask whether these could be written: where a disk is full, or a limit
    is reached, the last bytes are missing without a word, and a checksum of what is left would certify it.
    """
    with path.open("wb") as file:
        np.lib.format.write_array(_OnlyWritten(file), np.asanyarray(array), allow_pickle=False)


class _OnlyWritten:
    """A file that numpy does not take for one, so that it writes through Python."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], *, compress: bool = False) -> None:
    """An .npz without pickles and without the time of day, so that equal arrays give equal bytes."""
    with whole_file(path) as temporary:
        write_arrays(temporary, arrays, compress=compress)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], *, compress: bool = False) -> None:
    """The same, straight into `path`: for a file that gets its name later."""
    with zipfile.ZipFile(path, "w") as archive:
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
        durable_folder(path)
    except OSError as error:
        raise BadInputError(f"{option} {path} cannot be made a folder ({error.strerror}); name another one.") from error
    except ValueError as error:
        raise BadInputError(f"{option} {str(path)!a} is no name of a folder; name another one.") from error
    if not os.access(path, os.W_OK):
        raise BadInputError(f"{option} {path} is not writable; name another folder.")
    return path
