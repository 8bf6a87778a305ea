"""Where everything comes from, the errata that touch it, and what to cite."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report.output.json_file import write_json
from pipeline.report.page import Page
from pipeline.report.sections.base import File, Section, Variables, titled

PAPER_TESTS, PAPER_CORRECTION = 2000, "by"
"""The design of the paper whose printed result does not add up."""


def data(page: Page) -> Variables:
    """masks_are_checked: the check of the masks is in the diagnostics, and says more than their law does."""
    content = page.content
    of_paper = content.correction == PAPER_CORRECTION and any(group.n_tests == PAPER_TESTS for group in page.groups)
    return {
        "paper_design": of_paper,
        "masks_are_checked": content.masks is not None and content.masks.has_law,
    }


def files(page: Page) -> Sequence[File]:
    """The whole report once more."""
    return [File("report.json", lambda path: write_json(path, page), "this page for programs")]


SECTION = Section("provenance", data, files, title=titled("Where this comes from"))
