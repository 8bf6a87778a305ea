"""What a layout of a folder is: the contract between LAYOUTS and the source "files"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import BadInputError
from pipeline.sources.opened import Opened
from pipeline.store.identity import identity

if TYPE_CHECKING:
    from pipeline.config import Source


@dataclass(frozen=True)
class Layout:
    """One way in which masks and outcomes lie in a folder.

    title: in a few words. files: those that tell it from the others, in words for a sentence; {percent} is that of the
    source. found: whether `source.folder` looks like it. content: what tells its content from another's, of every file
    that is read, before a row is. open: the rows and all else. labelled: whether classes come with it.
    """

    name: str
    title: str
    files: str
    found: Callable[[Source], bool]
    content: Callable[[Source], dict[str, Any]]
    open: Callable[[Source], Opened]
    labelled: Callable[[Source], bool]


PLACES = ("", "data", "cifar/data")
"""Where in a folder MadryLab's tools put their arrays."""


def folder_of(source: Source) -> Path:
    """`source.folder`, which has been checked to be there."""
    assert source.folder is not None
    return source.folder


def contents(files: Iterable[tuple[str, Path | None]]) -> dict[str, Any]:
    """ "content of <name>" → checksum of the file; None is no file."""
    found: dict[str, Any] = {}
    for name, path in files:
        if path is not None:
            if not path.exists():
                raise BadInputError(f"{path} does not exist; the source is not complete.")
            found[f"content of {name}"] = identity(path)
    return found


def there(path: Path) -> Path | None:
    """The file, if it is there."""
    return path if path.is_file() else None
