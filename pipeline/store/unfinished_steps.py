"""Finished steps of a stage that is not finished: files in a folder that outlives a kill (`Store.unfinished`).

A file is an .npz whose comment, the last bytes, is a checksum of all others (the archive's own leave some out) and of
the file's name below the folder of the work, which in turn is named after recipe and inputs: a step that was copied
from another, or from another work, is not taken for this one.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import WorkStoppedError
from pipeline.store.files import durable_folder, file_digest, flush, put_aside, whole_file, write_arrays

Arrays = Mapping[str, NDArray[Any]]

CHECKSUM = hashlib.sha256().digest_size
WORKS = (".work-", ".parts")
"""Beginnings of the names of folders of unfinished work."""


def read_step(path: Path, complain: Callable[[str], object], *, unbound: bool = False) -> Arrays | None:
    """The arrays of a finished step; None if it is not there, or is damaged, which `complain` hears of.

    unbound: also one of an earlier version, whose checksum leaves out the name; what it holds must say what it is.
    """
    if not path.is_file():
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        complain(f"{path} cannot be read ({error.strerror})")
        return None
    body, found = content[:-CHECKSUM], content[-CHECKSUM:]
    if found != _checksum(path, body) and not (unbound and found == hashlib.sha256(body).digest()):
        complain(f"{path} is damaged (its checksum is another one)")
        return None
    with np.load(BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def read_again(path: Path) -> Arrays:
    """The arrays of a step that was whole when the stage looked, hours ago perhaps."""
    damages: list[str] = []
    found = read_step(path, damages.append)
    if found is None:
        damage = damages[0] if damages else f"{path} is missing"
        raise WorkStoppedError(f"{damage}, though it was whole when the command began; run it again.")
    return found


def save_step(path: Path, arrays: Arrays) -> None:
    """Write a finished step for `read_step`, whole or not at all."""
    _make_home(path.parent)
    with _in_place(path) as temporary:
        write_arrays(temporary, arrays)
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.comment = bytes(CHECKSUM)
        with temporary.open("r+b") as file:
            checksum = _checksum(path, file.read()[:-CHECKSUM])
            file.seek(-CHECKSUM, os.SEEK_END)
            file.write(checksum)


def _make_home(folder: Path) -> None:
    """With the folder of the work, but not what that lies in: where it has gone, its disk has, and another has its
    place."""
    work = next((one for one in (folder, *folder.parents) if one.name.startswith(WORKS)), None)
    if work is not None and not work.exists():
        work.mkdir(exist_ok=True)
        flush(work.parent)
    durable_folder(folder)


def note_checksum(path: Path, of: str = "", *, content: Path | None = None) -> None:
    """Beside a file of another kind than `save_step` writes: NAME.sha256, bound to its name in the same way, and to
    `of`, where that says more about what it is. content: where it lies as long as it has not its name."""
    with _in_place(path.with_suffix(".sha256")) as temporary:
        temporary.write_text(_note(path, of, content or path), encoding="ascii")


def _in_place(path: Path) -> AbstractContextManager[Path]:
    if path.is_dir():
        put_aside(path)
    return whole_file(path)


def has_checksum(path: Path) -> bool:
    """Whether there is such a note."""
    return path.with_suffix(".sha256").is_file()


def fits_checksum(path: Path, of: str = "") -> bool:
    """Whether a file is there, with a note beside it that is its own."""
    try:
        return path.with_suffix(".sha256").read_bytes() == _note(path, of, path).encode("ascii")
    except OSError:
        return False


def _note(path: Path, of: str, content: Path) -> str:
    return hashlib.sha256(f"{_bound_name(path)}\n{of}\n{file_digest(content)}".encode()).hexdigest()


def _checksum(path: Path, content: bytes) -> bytes:
    return hashlib.sha256(_bound_name(path).encode() + b"\0" + content).digest()


def _bound_name(path: Path) -> str:
    """From the folder of the work on; without one, from the folder that it lies in."""
    parts = path.absolute().parts
    works = [k for k, part in enumerate(parts[:-1]) if part.startswith(WORKS)]
    return "/".join(parts[works[-1] if works else -2 :])
