"""What the weights multiply, and how that was decided."""

from __future__ import annotations

from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled


def data(page: Page) -> Variables | None:
    """The coding, if it is known."""
    return None if page.content.coding is None else {"coding": page.content.coding}


SECTION = Section("coding", data, inside="diagnostics", title=titled("What the weights multiply"))
