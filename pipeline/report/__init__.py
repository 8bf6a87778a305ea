"""The report: the tests, their images and the verdict in words, as a page that opens without a network.

`write_report` turns a `Content` into index.html and the files that the sections of the page write beside it (SECTIONS
in `sections/`). The same content gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.report.content import Content, DatamodelQuality, Images
from pipeline.report.groups import Group
from pipeline.report.html import html_of
from pipeline.report.limits import PAGE_BYTES
from pipeline.report.page import METHODS_SHARE, Page
from pipeline.report.rows import COLUMNS, Row
from pipeline.report.sections import SECTIONS_SHARE, File, shown_sections
from pipeline.report.work import Progress, silent
from pipeline.store.files import whole_file
from pipeline.text.given_names import printable

__all__ = ["COLUMNS", "Content", "DatamodelQuality", "Group", "Images", "Row", "write_report"]


def write_report(folder: Path, content: Content, progress: Progress = silent) -> list[Path]:
    """Write everything into the existing empty folder; return the paths written.

    `progress` is told of each part of the work (`pipeline.report.work`). The page comes last: where it stands, the
    report is complete.
    """
    if not folder.is_dir() or any(folder.iterdir()):
        raise ValueError(f"`folder` must be an existing empty folder, but {folder} is not.")
    beside, text = _fitting_page(content, progress)
    files = [*beside, File("index.html", lambda path: path.write_text(text, encoding="utf-8", newline="\n"))]
    for file in files:
        path = folder / file.path
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as temporary:
            file.write(temporary)
        if file.folder:
            progress("panels", 1)
    return [folder / file.path for file in files]


def _fitting_page(content: Content, progress: Progress) -> tuple[Sequence[File], str]:
    """The files beside the page, and the page as text, with as many panels and rows as fit into PAGE_BYTES."""
    limits = None
    while True:
        page = Page.of(content, limits, progress)
        shown = shown_sections(page)
        beside = [file for one in shown for file in one.section.files(page)]
        text = printable(html_of(page, shown, beside))
        progress("page", 1.0 - METHODS_SHARE - SECTIONS_SHARE)
        size = len(text.encode())
        if size <= PAGE_BYTES or (page.limits.panels == 0 and page.limits.rows == 0):
            return beside, text
        limits = page.limits.smaller(size)
