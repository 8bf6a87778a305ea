"""What a .pt file says of its tensors, looked at before torch follows it.

torch runs none of a file's code (`weights_only`), but it takes the memory that a length in one asks for, unpacks what
is packed, reads as many numbers as a file claims to have, and hashes keys that hold each other for ever.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.arrays.npz import check_packing
from pipeline.arrays.recorded_pickles import Recorded, record

ZIP = b"PK\x03\x04"
OTHER_THINGS = "it holds other things than tensors, or is damaged; nothing else is unpickled"
LARGEST_PICKLE = 16 * 2**20
MOST_STORAGES = 100_000
N_OLD_PICKLES = 5
"""Of torch's older format: a mark, a version, the system, what was saved, and a list of its storages."""
SIZES = {
    "DoubleStorage": 8, "LongStorage": 8, "ComplexFloatStorage": 8, "ComplexDoubleStorage": 16, "FloatStorage": 4,
    "IntStorage": 4, "HalfStorage": 2, "BFloat16Storage": 2, "ShortStorage": 2,
}  # fmt: skip
"""Bytes of a number; of any other storage 1."""


def check_pickles(path: Path) -> None:
    """ValueError, if the file asks for more than it holds."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if file.read(len(ZIP)) == ZIP:
            file.seek(0)
            _check_archive(file, size)
        else:
            file.seek(0)
            _check_old(file.read(LARGEST_PICKLE), size)


def _check_archive(file: Any, size: int) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            for name, entry in entries.items():
                check_packing(name, entry, size)
            names = [name for name in entries if name.endswith("data.pkl") and name.count("/") <= 1]
            if len(names) != 1 or entries[names[0]].file_size > LARGEST_PICKLE:
                raise ValueError("it has no data.pkl, or one that is too long")
            content = archive.read(names[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError, EOFError) as error:
        raise ValueError(f"it is a damaged archive ({error})") from error
    home = names[0].removesuffix("data.pkl")
    sizes = {name.removeprefix(f"{home}data/"): entry.file_size for name, entry in entries.items()}
    _check(content, 0, sizes, size)


def _check_old(content: bytes, size: int) -> None:
    place = 0
    for _ in range(N_OLD_PICKLES):
        place = _check(content, place, None, size)


def _check(content: bytes, start: int, sizes: Mapping[str, int] | None, size: int) -> int:
    """One pickle: where it ends. sizes: the bytes of each storage, where the file tells them."""
    try:
        value, end = record(content, lambda module, name: module not in ("builtins", "__builtin__"), start)
    except ValueError as error:
        raise ValueError(OTHER_THINGS) from error
    for count, storage in enumerate(_storages(value)):
        kind, key, numbers = storage
        known = size if sizes is None else sizes.get(key, 0)
        if count > MOST_STORAGES or not 0 <= numbers <= known or numbers * SIZES.get(kind, 1) > known:
            raise ValueError(f"it claims {numbers:,} numbers where it holds {known:,} bytes")
    return end


def _storages(value: Any) -> Iterator[tuple[str, str, int]]:
    """(type, key, how many numbers) of each storage that is mentioned; every part of `value` is looked at once."""
    left, seen = [value], set[int]()
    while left:
        part = left.pop()
        if id(part) in seen:
            continue
        if isinstance(part, Recorded):
            seen.add(id(part))
            if not part.module and not part.name:
                yield _storage(part.arguments[0])
            left += [*part.arguments, part.state, *part.items]
        elif isinstance(part, (list, tuple, dict)):
            seen.add(id(part))
            left += part.values() if isinstance(part, dict) else part


def _storage(told: Any) -> tuple[str, str, int]:
    match told:
        case (_, Recorded() as kind, key, _, int(numbers), *_):
            return kind.name, _word(key), numbers
    raise ValueError("it names something outside of it that is no storage")


def _word(key: Any) -> str:
    return key.decode("latin1") if isinstance(key, bytes) else str(key)
