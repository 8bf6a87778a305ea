"""Held against fresh models: how far models trained anew agree with the findings, and with other tests."""

from __future__ import annotations

from datamodels_inf.replication import Replication
from pipeline.report.content.fresh import FreshCheck, FreshFamily
from pipeline.report.drawing.effect_scatter import effect_scatter
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables
from pipeline.text.replications import COLUMNS, MEANING, cells, share


def data(page: Page) -> Variables | None:
    """Tables, drawings and sentences, where fresh models were trained."""
    fresh = page.content.fresh
    if fresh is None:
        return None
    scatters = [effect_scatter(family, page.content.unit) for family in fresh.families]
    return {
        "fresh": fresh,
        "columns": COLUMNS,
        "meaning": MEANING,
        "tables": [table for table in (_table(fresh, "findings"), _table(fresh, "others")) if table[1]],
        "sentences": [sentence(family) for family in fresh.families],
        "scatters": [one for one in scatters if one is not None],
    }


def _table(fresh: FreshCheck, kind: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """Its title, and a row for each family that has such tests."""
    found: list[tuple[str, Replication | None]] = [(family.name, getattr(family, kind)) for family in fresh.families]
    title = "Findings" if kind == "findings" else "As many other tests"
    return title, [(name, cells(one)) for name, one in found if one is not None]


def sentence(family: FreshFamily) -> str:
    """What the fresh models say of the findings of a family."""
    found = family.findings
    if found is None:
        return f"{family.name}: no finding to compare."
    text = f"{family.name}: {share(found.same_sign)} of {found.n:,} findings have the same sign by the fresh models"
    if found.false_share is not None:
        text += f", so about {share(found.false_share)} of them are false, and at most {share(found.false_bound)}"
    reversals = "none is reversed" if not found.reversed else f"{found.reversed:,} are reversed"
    return f"{text}; {found.confirmed:,} are confirmed by the fresh models alone, and {reversals}."


SECTION = Section("fresh", data)
