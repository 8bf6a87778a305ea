"""CSV, for programs to read: the one place that says how a value stands in a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from _csv import Writer

Cell: TypeAlias = str | int | float | bool | tuple[int, ...] | None


def plain(value: Cell) -> str:
    """10 significant digits, true/false, numbers of images with blanks between."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return format(value, ".10g") if isinstance(value, (float, np.floating)) else str(value)


def csv_line(values: Iterable[Cell]) -> str:
    """One line, without its end."""
    text = io.StringIO()
    _writer(text).writerow(map(plain, values))
    return text.getvalue().removesuffix("\n")


def write_csv(path: Path, header: Sequence[str], lines: Iterable[Iterable[Cell]]) -> None:
    """A file of a header and `lines`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = _writer(file)
        writer.writerow(header)
        writer.writerows([plain(value) for value in line] for line in lines)


def _writer(file: TextIO) -> Writer:
    return csv.writer(file, lineterminator="\n")
