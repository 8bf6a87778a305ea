"""The answer of each method in one sentence, then its figures."""

from __future__ import annotations

from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables
from pipeline.report.sentences import verdict


def data(page: Page) -> Variables:
    """Each method with its verdict."""
    return {"answers": [(method, verdict(method.group, page.content)) for method in page.methods]}


SECTION = Section("answer", data)
