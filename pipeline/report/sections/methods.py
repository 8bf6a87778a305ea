"""The methods side by side: how many findings each has, and how many two of them share."""

from __future__ import annotations

from pipeline.report.page import MethodOnPage, Page
from pipeline.report.sections.base import Section, Variables, titled


def data(page: Page) -> Variables | None:
    """Each method with the findings that it shares with each of the methods, in their order."""
    if not page.several:
        return None
    pairs = [_pairs(method) for method in page.methods]
    shared = [[len(own & other) for other in pairs] for own in pairs]
    return {"compared": list(zip(page.methods, shared, strict=True))}


def _pairs(method: MethodOnPage) -> set[tuple[object, ...]]:
    """What tells its findings apart, but for the method."""
    return {item.row.key[1:] for item in method.group.findings}


SECTION = Section("methods", data, inside="diagnostics", title=titled("Methods side by side"))
