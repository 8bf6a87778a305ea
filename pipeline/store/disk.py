"""A disk that is full, read-only or gone is one sentence: which folder it is of, and what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import WorkStoppedError
from pipeline.text.numbers import human_bytes

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
READ_ONLY = (errno.EROFS,)
UNREACHABLE = (errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENOTCONN)
MISSING = (errno.ENOENT, errno.ENOTDIR)
KEPT = "and run again: what is complete is kept"


@contextmanager
def telling_of_the_disk(
    folder: Path, option: str = "", *, needed: Callable[[], int] | None = None, there: Path | None = None
) -> Iterator[None]:
    """What a disk refuses inside is a sentence about `folder`; other errors pass.

    option: that names another folder. needed: bytes that are still to be stored, asked for where there is no room.
    there: a path that is there as long as the disk is.
    """
    try:
        yield
    except OSError as error:
        sentence = disk_sentence(error, folder, option, needed=needed, there=there)
        if not sentence:
            raise
        raise WorkStoppedError(sentence) from error


def disk_sentence(
    error: OSError,
    folder: Path | None = None,
    option: str = "",
    *,
    needed: Callable[[], int] | None = None,
    there: Path | None = None,
) -> str:
    """Empty if it is not the disk's fault. folder: None is that of the file which the error names, if it names one."""
    reason, number = _reason(error), _number(error)
    place = _named(error, folder)
    larger = f", or give {option} a folder on a larger disk" if option else ""
    other = f", or give {option} another folder" if option else ""
    if number in FULL:
        wanted = f": {human_bytes(needed())} are needed" if needed is not None else ""
        return f"the disk of {place} is full ({reason}){wanted}; free some space{larger}, {KEPT}."
    if number in READ_ONLY:
        return f"{place} cannot be written ({reason}); make its disk writable{other}, {KEPT}."
    if number in UNREACHABLE:
        return f"the disk of {place} does not answer ({reason}); see that it is mounted and sound{other}, {KEPT}."
    if number in MISSING and there is not None and not there.exists():
        return f"{place} has gone while it was in use ({reason}); see that its disk is mounted{other}, {KEPT}."
    return ""


def _named(error: OSError, folder: Path | None) -> str:
    """The folder of the file that could not be written, if that is another disk than that of `folder`, else that."""
    file = error.filename if isinstance(error.filename, str) else None
    if file is None:
        return "what is written" if folder is None else str(folder)
    if folder is None or _device(Path(file)) not in (None, _device(folder)):
        return str(Path(file).parent)
    return str(folder)


def _device(path: Path) -> int | None:
    """Of a path, or of the nearest folder above it that is there."""
    for one in (path, *path.absolute().parents):
        try:
            return one.stat().st_dev
        except OSError:
            continue
    return None


def _number(error: OSError) -> int | None:
    """Numpy has no number for a file that takes only some of its bytes, and pyarrow only words for any error."""
    if error.errno is not None:
        return error.errno
    text = str(error)
    if "requested and" in text and text.endswith("written"):
        return errno.ENOSPC
    known = (*FULL, *READ_ONLY, *UNREACHABLE)
    return next((number for number in known if os.strerror(number) in text), None)


def _reason(error: OSError) -> str:
    return " ".join(str(error).split())[:120] if error.errno is None else os.strerror(error.errno)
