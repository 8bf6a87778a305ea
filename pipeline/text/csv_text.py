"""CSV, for programs to read: the one place that says how a value stands in a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

import numpy as np

from pipeline.text.given_names import OBEYED

if TYPE_CHECKING:
    from _csv import Writer

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""How texts begin that a spreadsheet would run; the wide forms are the same to one."""
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


def cell(value: Cell) -> str:
    """`plain`, and of a text nothing that a spreadsheet would run or a terminal obey.

    A text that begins as a formula does, with = + - or @, has an apostrophe before it, unless it is a number; control
    characters are left out, and so are those that turn the text around them.

    >>> cell("=1+1"), cell("-0.5"), cell(-0.5), cell("a\\tb")
    ("'=1+1", '-0.5', '-0.5', 'a b')
    """
    text = plain(value)
    if not isinstance(value, str):
        return text
    text = OBEYED.sub(" ", text.replace("\n", " ").replace("\t", " "))
    return f"'{text}" if text.lstrip().startswith(FORMULA) and not _is_number(text) else text


def text_of(cell_text: str) -> str:
    """The text of a cell, without the apostrophe that `cell` puts before what looks like a formula.

    >>> text_of(cell("=1+1")), text_of("'s")
    ('=1+1', "'s")
    """
    return cell_text[1:] if cell_text[:1] == "'" and cell_text[1:].lstrip().startswith(FORMULA) else cell_text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def csv_line(values: Iterable[Cell]) -> str:
    """One line, without its end."""
    text = io.StringIO()
    _writer(text).writerow(map(cell, values))
    return text.getvalue().removesuffix("\n")


def write_csv(path: Path, header: Sequence[str], lines: Iterable[Iterable[Cell]]) -> None:
    """A file of a header and `lines`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = _writer(file)
        writer.writerow(map(cell, header))
        writer.writerows([cell(value) for value in line] for line in lines)


def _writer(file: TextIO) -> Writer:
    return csv.writer(file, lineterminator="\n")
