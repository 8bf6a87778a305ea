"""The records of Bergson's `scores.bin`, as the `info.json` beside it describes them.

Any description could stand there, and numpy would follow it: a field of Python objects is an address that the file
chooses. So the fields are made here, from the few kinds that Bergson writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

HALF = "bfloat16"
SCORES = {HALF: "<u2"} | {
    form: kind
    for kind, forms in {
        "<f2": ("float16", "<f2", "f2"), "<f4": ("float32", "<f4", "f4"), "<f8": ("float64", "<f8", "f8"),
    }.items()
    for form in forms
}  # fmt: skip
"""Forms of a score → how numpy reads it; it has no bfloat16."""
WRITTEN = {form: "?" for form in ("bool", "?", "|b1", "b1")} | {form: "u1" for form in ("uint8", "u1", "|u1")}
"""Forms of the mark that a score was written."""


def record_type(layout: Any) -> tuple[np.dtype[Any], list[bool]]:
    """(the type of a record score_0, written_0, score_1, …; of each score whether it is a bfloat16).

    >>> named = {"names": ["score_0", "written_0"], "formats": ["float32", "bool"], "offsets": [0, 4], "itemsize": 8}
    >>> record_type(named)[0].itemsize
    8
    """
    if not isinstance(layout, Mapping):
        raise ValueError("info.json describes no records")
    names, forms, offsets, size = (layout.get(key) for key in ("names", "formats", "offsets", "itemsize"))
    if not (isinstance(names, list) and isinstance(forms, list) and isinstance(offsets, list) and type(size) is int):
        raise ValueError("info.json must describe records by names, formats, offsets and itemsize")
    n_scores = len(names) // 2
    wanted = [name for k in range(n_scores) for name in (f"score_{k}", f"written_{k}")]
    if not names or sorted(map(str, names)) != sorted(wanted) or not len(names) == len(forms) == len(offsets):
        raise ValueError("info.json must describe fields score_0, written_0, score_1, … and no other")
    kinds = [_kind(name, form) for name, form in zip(names, forms, strict=True)]
    _check_places(kinds, offsets, size)
    described: Any = {"names": names, "formats": kinds, "offsets": offsets, "itemsize": size}
    form_of = dict(zip(names, forms, strict=True))
    return np.dtype(described), [form_of[f"score_{k}"] == HALF for k in range(n_scores)]


def _kind(name: str, form: object) -> str:
    allowed = SCORES if name.startswith("score_") else WRITTEN
    if not isinstance(form, str) or form not in allowed:
        raise ValueError(f"info.json has {str(form)[:20]!r} as the format of {name}, not one of {', '.join(allowed)}")
    return allowed[form]


def _check_places(kinds: list[str], offsets: list[Any], size: int) -> None:
    """Fields lie one after another, inside the record."""
    if not all(type(offset) is int for offset in offsets):
        raise ValueError("info.json must have whole numbers as offsets")
    end = 0
    for offset, kind in sorted(zip(offsets, kinds, strict=True)):
        if offset < end:
            raise ValueError("info.json has fields that overlap")
        end = offset + np.dtype(kind).itemsize
    if not end <= size < 2**31:
        raise ValueError(f"info.json has records of {size:,} bytes, but their fields end at {end:,}")


def widened(halves: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Of bfloat16, which are the upper halves of float32.

    >>> widened(np.array([0x3F80, 0xC000], np.uint16)).tolist()
    [1.0, -2.0]
    """
    return (halves.astype(np.uint32) << 16).view(np.float32)
