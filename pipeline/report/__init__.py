"""The report: the tests, their images and the verdict in words, as a page that opens without a network.

`write_report` turns a `Content` into index.html and the files that the sections of the page write beside it (SECTIONS
in `sections/`). The same content gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline.report.content import Content, DatamodelQuality, Images
from pipeline.report.html import html_of
from pipeline.report.page import Page
from pipeline.report.rows import COLUMNS, Row
from pipeline.report.sections import File, shown_sections
from pipeline.store.files import whole_file

__all__ = ["COLUMNS", "Content", "DatamodelQuality", "Images", "Row", "write_report"]


def write_report(folder: Path, content: Content, progress: Callable[[int], object] | None = None) -> list[Path]:
    """Write everything into the existing empty folder; return the paths written.

    `progress(1)` is called after each panel. The page comes last: where it stands, the report is complete.
    """
    if not folder.is_dir() or any(folder.iterdir()):
        raise ValueError(f"`folder` must be an existing empty folder, but {folder} is not.")
    page = Page.of(content)
    shown = shown_sections(page)
    beside = [file for one in shown for file in one.section.files(page)]

    def write_page(path: Path) -> None:
        path.write_text(html_of(page, shown, beside), encoding="utf-8", newline="\n")

    files = [*beside, File("index.html", write_page)]
    for file in files:
        path = folder / file.path
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as temporary:
            file.write(temporary)
        if progress is not None and file.folder:  # Panels are the many, and so the slow ones.
            progress(1)
    return [folder / file.path for file in files]
