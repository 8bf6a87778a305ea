"""Pickles that are recorded, never run: only a dictionary of texts, lists and byte arrays is taken from one."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError


class _Recorded:
    """A name that a pickle mentions, or a call of it, with its arguments and state as written.

    Fresh for every mention and without behaviour, so that nothing a pickle does to it outlives the reading.
    numpy's own functions are not called, so that no odd shape, dtype or state reaches them.
    """

    def __init__(self, name: str, arguments: tuple[Any, ...] = ()) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None

    def __call__(self, *arguments: Any) -> _Recorded:
        return _Recorded(self.name, arguments)

    def __setstate__(self, state: Any) -> None:
        self.state = state


_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),  # how Python 3 writes bytes for Python 2
}


class _Recorder(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise BadInputError(f"asks to run {f'{module}.{name}'[:80]!r}, which was not run")
        return _Recorded(name)


def read_dictionary(content: bytes) -> dict[str, Any]:
    """The pickled dictionary, its keys as text; a `BadInputError` says what is wrong, for the caller to say where."""
    try:
        value = _Recorder(io.BytesIO(content), encoding="bytes").load()
    except BadInputError:
        raise
    except Exception as error:  # a damaged pickle can raise almost anything
        raise BadInputError("is damaged or not a pickle") from error
    if not isinstance(value, dict):
        raise BadInputError("holds no dictionary")
    return {text(key): item for key, item in value.items()}


def text(value: object) -> str:
    """A string of either Python, one character a byte; empty if it is none."""
    match value:
        case _Recorded(name="encode", arguments=(str(characters), "latin1")) | str(characters):
            return characters
        case bytes():
            return value.decode("latin1")
    return ""


def byte_rows(array: object, width: int) -> NDArray[np.uint8] | None:
    """The recorded array if it is one of bytes, (n, width) with n at least 1."""
    match array:
        case _Recorded(
            name="_reconstruct",
            state=(_, (int(n), int(columns)), _Recorded(name="dtype", arguments=("u1" | b"u1", *_)), order, raw),
        ) if columns == width:
            content = raw if isinstance(raw, bytes) else text(raw).encode("latin1", errors="ignore")
            if n >= 1 and len(content) == n * width:
                return np.frombuffer(content, dtype=np.uint8).reshape(n, width, order="F" if order else "C")
    return None
