"""The answer of each method in one sentence, then its figures."""

from __future__ import annotations

from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled
from pipeline.report.sentences import blocks_sentence, verdict


def data(page: Page) -> Variables:
    """Each method with its verdict, and where every model but the first tests, how that is done."""
    blocks = page.content.blocks
    return {
        "answers": [(method, verdict(method.group, page.content)) for method in page.methods],
        "how": "" if blocks is None else blocks_sentence(blocks),
    }


SECTION = Section("answer", data, title=titled("The answer"))
