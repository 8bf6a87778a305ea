"""All findings in numbers."""

from __future__ import annotations

from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables

TABLE_ROWS = 2000
"""Of each method; all of them are in findings.csv."""


def data(page: Page) -> Variables | None:
    """Each method that has findings, with the first of them."""
    if not page.n_findings:
        return None
    return {"tables": [(method, method.group.findings[:TABLE_ROWS]) for method in page.methods if method.n_found]}


SECTION = Section("table", data)
