"""Pickled batches: only a dictionary of texts, lists and byte arrays is taken from what `recorded_pickles` wrote down.

numpy's own functions are not called, so that no odd shape, dtype or state reaches them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays.recorded_pickles import Recorded, RefusedNameError, record
from pipeline.errors import BadInputError

_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),  # how Python 3 writes bytes for Python 2
}


def read_dictionary(content: bytes) -> dict[str, Any]:
    """The pickled dictionary, its keys as text; a `BadInputError` says what is wrong, for the caller to say where."""
    try:
        value, _ = record(content, lambda module, name: (module, name) in _ALLOWED)
    except RefusedNameError as error:
        raise BadInputError(f"asks to run {error.name[:80]!r}, which was not run") from error
    except ValueError as error:
        raise BadInputError("is damaged or not a pickle") from error
    if not isinstance(value, dict):
        raise BadInputError("holds no dictionary")
    return {text(key): item for key, item in value.items()}


def text(value: object) -> str:
    """A string of either Python, one character a byte; empty if it is none."""
    match value:
        case Recorded(name="encode", arguments=(str(characters), "latin1")) | str(characters):
            return characters
        case bytes():
            return value.decode("latin1")
    return ""


def byte_rows(array: object, width: int) -> NDArray[np.uint8] | None:
    """The recorded array if it is one of bytes, (n, width) with n at least 1."""
    match array:
        case Recorded(
            name="_reconstruct",
            state=(_, (int(n), int(columns)), Recorded(name="dtype", arguments=("u1" | b"u1", *_)), order, raw),
        ) if columns == width:
            content = raw if isinstance(raw, bytes) else text(raw).encode("latin1", errors="ignore")
            if n >= 1 and len(content) == n * width:
                return np.frombuffer(content, dtype=np.uint8).reshape(n, width, order="F" if order else "C")
    return None
