"""Finished steps of a stage that is not finished: files in a folder that outlives a kill (`Store.bench`)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.files import save_arrays

Arrays = Mapping[str, NDArray[Any]]


def read_step(path: Path, complain: Callable[[str], object]) -> Arrays | None:
    """The arrays of a finished step; None if it is not there, or is damaged, which `complain` hears of."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}  # Reading checks the checksums of the archive.
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        complain(f"{path} is damaged ({error})")
        return None


def save_step(path: Path, arrays: Arrays) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_arrays(path, arrays)
