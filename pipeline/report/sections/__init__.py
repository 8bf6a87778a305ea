"""SECTIONS: the sections of the page in their order, each with its template beside it.

A new one is a module with a `Section`, its template, and a line here (docs/adding.md).
"""

from __future__ import annotations

from pipeline.report.page import Page
from pipeline.report.sections import (
    answer,
    coding,
    corrections,
    datamodels,
    diagnostics,
    findings,
    fresh,
    growth,
    influences,
    influential,
    masks,
    methods,
    prior,
    provenance,
    pvalues,
    reading,
    robustness,
    table,
    verify,
)
from pipeline.report.sections.base import File, Section, Shown

__all__ = ["SECTIONS", "SECTIONS_SHARE", "File", "Section", "Shown", "shown_sections"]

SECTIONS_SHARE = 0.4
SECTIONS: dict[str, Section] = {
    section.name: section
    for section in (
        answer.SECTION,
        findings.SECTION,
        reading.SECTION,
        table.SECTION,
        growth.SECTION,
        corrections.SECTION,
        prior.SECTION,
        robustness.SECTION,
        verify.SECTION,
        fresh.SECTION,
        influences.SECTION,
        influential.SECTION,
        diagnostics.SECTION,
        methods.SECTION,
        pvalues.SECTION,
        datamodels.SECTION,
        masks.SECTION,
        coding.SECTION,
        provenance.SECTION,
    )
}


def shown_sections(page: Page) -> list[Shown]:
    """The sections that have something to show, in their order; without its section, none inside it.

    `page.progress` is told of SECTIONS_SHARE of the work that a page is.
    """
    shown: dict[str, Shown] = {}
    for name, section in SECTIONS.items():
        variables = section.data(page) if not section.inside or section.inside in shown else None
        if variables is not None:
            shown[name] = Shown(section, variables)
        page.progress("page", SECTIONS_SHARE / len(SECTIONS))
    return list(shown.values())
