"""What a layout of a folder is: the contract between LAYOUTS and the source "files"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.sources.opened import Opened

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


def there(path: Path) -> Path | None:
    """The file, if it is there."""
    return path if path.is_file() else None
