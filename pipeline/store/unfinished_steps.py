"""Finished steps of a stage that is not finished: files in a folder that outlives a kill (`Store.unfinished`).

A file is an .npz whose comment, the last bytes, is the checksum of all others: the archive's own leave some out.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.store.files import save_arrays, whole_file

Arrays = Mapping[str, NDArray[Any]]

CHECKSUM = hashlib.sha256().digest_size


def read_step(path: Path, complain: Callable[[str], object]) -> Arrays | None:
    """The arrays of a finished step; None if it is not there, or is damaged, which `complain` hears of."""
    if not path.is_file():
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        complain(f"{path} cannot be read ({error.strerror})")
        return None
    if hashlib.sha256(content[:-CHECKSUM]).digest() != content[-CHECKSUM:]:
        complain(f"{path} is damaged (its checksum is another one)")
        return None
    with np.load(BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def save_step(path: Path, arrays: Arrays) -> None:
    """Write a finished step for `read_step`, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as temporary:
        save_arrays(temporary, arrays)
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.comment = bytes(CHECKSUM)
        with temporary.open("r+b") as file:
            checksum = hashlib.sha256(file.read()[:-CHECKSUM]).digest()
            file.seek(-CHECKSUM, os.SEEK_END)
            file.write(checksum)
