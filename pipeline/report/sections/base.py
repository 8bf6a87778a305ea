"""The contract of a section: what an entry of SECTIONS holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from jinja2 import BaseLoader

from pipeline.report.page import Page

Variables: TypeAlias = Mapping[str, object]
"""Name in the template → value."""


@dataclass(frozen=True)
class File:
    """A file beside the page.

    path: within the report, such as "findings.csv"; of a folder, such as "panels/", only the folder is listed.
    write: writes it where it is told. words: what it is, for the list of files at the end of the page.
    listed: whether it is in that list.
    """

    path: str
    write: Callable[[Path], object]
    words: str = ""
    listed: bool = True

    @property
    def folder(self) -> str:
        """Empty for a file that stands right beside the page."""
        return self.path.rpartition("/")[0]


def no_files(page: Page) -> Sequence[File]:
    """Of a section that is only on the page."""
    return ()


@dataclass(frozen=True)
class Section:
    """One section of the page.

    name: its template is <name>.html.j2; where it has an anchor, that is `name` too.
    data: what its template needs beside `page`; None leaves the section out, and its files.
    files: what it writes beside the page.
    inside: the section, earlier in the table, whose template places this one with {{ inside }}; empty for none.
    templates: where its template is found; None is the folder of this file.
    style: a file of CSS rules that are on the page only where this section is; empty for none.
    title: what it is called in the contents of the page, which lead to the anchor `name`; None leaves it out there.
    """

    name: str
    data: Callable[[Page], Variables | None]
    files: Callable[[Page], Sequence[File]] = no_files
    inside: str = ""
    templates: BaseLoader | None = None
    style: str = ""
    title: Callable[[Page], str] | None = None


def titled(text: str) -> Callable[[Page], str]:
    """A title that is the same on every page, but for {noun}: "image" or "item"."""
    return lambda page: text.format(noun=page.content.noun)


@dataclass(frozen=True)
class Shown:
    """A section that has something to show, and what its template needs."""

    section: Section
    variables: Variables
