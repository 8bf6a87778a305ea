"""Files of one array, .npy: the header, which says what the bytes behind it mean, and a memory map of those."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 16
MOST_DIMENSIONS = 8
LARGEST = 2**62
"""Of anything that is counted here: beyond it numpy's own numbers overflow."""
_FIELD = re.compile(
    r"\s*['\"](descr|fortran_order|shape)['\"]\s*:\s*"
    r"(?:['\"]([^'\"]{1,40})['\"]|(True|False)|\(([\d\sL,]{0,200})\)|(\[))\s*(,|\Z)"
)
"""One of the three entries: a type, a truth, a shape, or the beginning of a list of fields."""
_TYPE = re.compile(r"[<>=|]?(?:[?bBhHiIlLqQefdgFDG]|[biufc]\d{1,2}|[SaUVmM]\d{0,9}(?:\[[\w/]{1,12}\])?)")


@dataclass(frozen=True)
class Header:
    """What a file of one array says of it; its numbers begin after `offset` bytes."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def n_bytes(self) -> int:
        """Bytes of all numbers together."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: BinaryIO) -> Header:
    """The header that `stream` begins with; it stands at the first number then. ValueError says what is wrong.

    >>> import io
    >>> stream = io.BytesIO()
    >>> np.save(stream, np.zeros((2, 3), np.float32))
    >>> read_header(io.BytesIO(stream.getvalue()))
    Header(shape=(2, 3), fortran=False, dtype=dtype('float32'), offset=128)
    """
    start = stream.read(len(MAGIC) + 2)
    if start[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin as one")
    if start[len(MAGIC) :] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise ValueError("its header is of an unknown version")
    width = 2 if start[len(MAGIC)] == 1 else 4
    length = stream.read(width)
    size = int.from_bytes(length, "little")
    if len(length) < width or size > LONGEST_HEADER:
        raise ValueError("the length of its header is damaged")
    content = stream.read(size)
    if len(content) < size:
        raise ValueError("it ends in its header")
    return _parsed(content.decode("latin1"), len(start) + width + size)


def _parsed(text: str, offset: int) -> Header:
    fields = _fields(text)
    descr, order, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    if descr is None or order not in ("True", "False") or shape is None:
        raise ValueError("its header is damaged")
    numbers = [number.strip(" \tL") for number in shape.split(",")]
    numbers = numbers[:-1] if numbers[-1] == "" else numbers
    if len(numbers) > MOST_DIMENSIONS or not all(re.fullmatch(r"[0-9]{1,18}", number) for number in numbers):
        raise ValueError("the shape in its header is damaged")
    header = Header(tuple(map(int, numbers)), order == "True", _type(descr), offset)
    if math.prod(max(1, n) for n in header.shape) * header.dtype.itemsize >= LARGEST:
        raise ValueError(f"its header says shape {header.shape}, which is larger than any array")
    return header


def _fields(text: str) -> dict[str, str | None]:
    """Each entry as it is written. Fields of records are not looked at: nothing here is made of records."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("its header is damaged")
    inner, place = text[1:-1].rstrip(), 0
    found: dict[str, str | None] = dict.fromkeys(("descr", "fortran_order", "shape"))
    while place < len(inner):
        entry = _FIELD.match(inner, place)
        if entry is None:
            if re.match(r"\s*['\"]descr['\"]\s*:\s*\[", inner[place:]):
                raise ValueError("it holds records of several fields")
            raise ValueError("its header is damaged")
        name, kind, truth, shape = entry[1], entry[2], entry[3], entry[4]
        value = {"descr": kind, "fortran_order": truth, "shape": shape}[name]
        if value is None or found[name] is not None:
            raise ValueError("its header is damaged")
        found[name], place = value, entry.end()
    return found


def _type(descr: str) -> np.dtype[Any]:
    if descr.lstrip("<>=|") == "O":
        raise ValueError("it holds Python objects")
    try:
        dtype = np.dtype(descr) if _TYPE.fullmatch(descr) else None
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype.itemsize == 0:
        raise ValueError(f"its header names a type that is none ({descr[:20]!r})")
    return dtype


def map_npy(path: Path) -> NDArray[Any]:
    """A memory map of the array in a file; ValueError or OSError says what is wrong."""
    with path.open("rb") as file:
        header = read_header(file)
        size = os.fstat(file.fileno()).st_size
    if header.offset + header.n_bytes > size:
        raise ValueError(f"it has {size:,} bytes where its header promises {header.offset + header.n_bytes:,}")
    order: Any = "F" if header.fortran else "C"
    if header.n_bytes == 0:  # Of nothing there is no map.
        return np.empty(header.shape, header.dtype, order)
    return np.memmap(path, header.dtype, "r", header.offset, header.shape, order)


def open_array(path: Path) -> NDArray[Any]:
    """The same of a file that the user gave: what is wrong with it is one sentence."""
    try:
        return map_npy(path)
    except FileNotFoundError as error:
        raise BadInputError(f"{path} does not exist; the source is not complete.") from error
    except (OSError, ValueError) as error:
        if "Python objects" in str(error):
            raise BadInputError(
                f"{path} holds Python objects, and not an array of numbers; {_as_numbers(path)}."
            ) from None
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise BadInputError(f"{path} is not a whole .npy array of numbers ({reason}); get it again.") from error


def _as_numbers(path: Path) -> str:
    """How to save what numpy made an array of objects of."""
    if path.name != "indices.npy":
        return "save it with a type of numbers"
    return (
        "for lists of different lengths save np.concatenate(lists) as indices.npy, and where each begins and the last "
        "ends, np.cumsum([0, *map(len, lists)]), as indptr.npy"
    )
