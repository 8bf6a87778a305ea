"""The list `.files` beside a report: what of a folder is ours, so that nothing else is ever removed.

Its first line says of which report the last whole copy was; it is no file's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

LISTED = ".files"
"""Holds the names of a report's files, one a line."""
MARK = b"# copy of "
ENDINGS, FOLDERS = (".html", ".json", ".csv"), ("panels",)
"""Of a report's files, and what folders it has."""


def listed_files(home: Path) -> list[str]:
    """The names in the list that are files inside `home`.

    A list is text that anyone can write: lines that lead out of the folder, by `..`, as absolute paths or through
    links, that name folders, that are written otherwise than we write them, or that cannot be read are not ours.
    """
    file = home / LISTED
    if not file.is_file():
        return []
    root = home.resolve()
    return [name for name in _lines(file.read_bytes()) if _is_inside(root, name)]


def _lines(content: bytes) -> Iterator[str]:
    for line in content.split(b"\n"):
        try:
            name = line.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if name.strip():
            yield name


def _is_inside(root: Path, name: str) -> bool:
    try:
        place = root / name
        if place.resolve() != place or not place.is_relative_to(root):
            return False
        return place.relative_to(root).as_posix() == name and place.is_file()
    except (OSError, ValueError):  # Too long, or with a NUL.
        return False


def blocked(home: Path) -> str:
    """Why no report can be written at `home`, for a sentence; empty if one can."""
    if (home.is_symlink() or home.exists()) and not home.is_dir():
        return f"{home} is {'a file' if home.exists() else 'a link to nothing'}, so that no report can be put there"
    if not home.is_dir():
        return ""
    if not os.access(home, os.W_OK):
        return f"{home} is not writable, so that no report can be put there"
    for path in home.iterdir():
        if path.is_dir() and (path.name == LISTED or path.suffix in ENDINGS):
            return f"{path} is a folder where a file of the report goes"
        if path.name in FOLDERS and not path.is_dir():
            return f"{path} is a file where a folder of the report goes"
    return ""


def listed_mark(home: Path) -> str:
    """Of which report the files in the list are; empty where it does not say."""
    file = home / LISTED
    first = file.read_bytes().partition(b"\n")[0] if file.is_file() else b""
    return first.removeprefix(MARK).decode("ascii", "replace") if first.startswith(MARK) else ""


def list_text(names: Iterable[str], mark: str = "") -> str:
    """What `listed_files` and `listed_mark` read."""
    return (f"{MARK.decode()}{mark}\n" if mark else "") + "".join(f"{name}\n" for name in names)


def write_list(path: Path, names: Iterable[str], mark: str = "") -> None:
    """The same, at `path`."""
    path.write_text(list_text(names, mark), encoding="utf-8")
