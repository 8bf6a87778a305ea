"""Diagnostics: a heading, and the sections inside it."""

from __future__ import annotations

from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled


def data(page: Page) -> Variables:
    """Nothing of its own."""
    return {}


SECTION = Section("diagnostics", data, title=titled("Diagnostics"))
