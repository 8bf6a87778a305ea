"""Held against fresh models: how far models trained anew agree with the findings, and with other tests."""

from __future__ import annotations

from datamodels_inf.replication import Replication
from pipeline.report.content.fresh import FreshCheck, FreshFamily
from pipeline.report.drawing.effect_scatter import effect_scatter
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled
from pipeline.text.numbers import thousands
from pipeline.text.replications import MEANING, share, table


def data(page: Page) -> Variables | None:
    """Tables, drawings and sentences, where fresh models were trained."""
    fresh = page.content.fresh
    if fresh is None:
        return None
    scatters = [effect_scatter(family, page.content.unit) for family in fresh.families]
    return {
        "fresh": fresh,
        "meaning": MEANING,
        "tables": [one for one in (_table(fresh, "findings"), _table(fresh, "others")) if one[2]],
        "sentences": [sentence(family) for family in fresh.families],
        "scatters": [one for one in scatters if one is not None],
    }


def _table(fresh: FreshCheck, kind: str) -> tuple[str, list[str], dict[str, list[str]]]:
    """Its title, columns, and a row for each family that has such tests."""
    found: dict[str, Replication | None] = {family.name: getattr(family, kind) for family in fresh.families}
    title = "Findings" if kind == "findings" else "As many other tests"
    columns, rows = table({name: one for name, one in found.items() if one is not None})
    return title, columns, dict(rows)


def sentence(family: FreshFamily) -> str:
    """What the fresh models say of the findings of a family."""
    found = family.findings
    if found is None:
        return f"{family.name}: no finding to compare."
    same = f"{share(found.same_sign)} of {thousands(found.n)} findings"
    text = f"{family.name}: {same} have the same sign by the fresh models"
    if found.false_share is not None:
        false = f"about {share(found.false_share)} or fewer are" if found.false_share else "none seems"
        text += f", so {false} false (95 % bound: {share(found.false_bound)})"
    confirmed, reversed_ = thousands(found.confirmed), thousands(found.reversed)
    return f"{text}. Confirmed by the fresh models alone: {confirmed}; reversed: {reversed_}."


SECTION = Section("fresh", data, style="fresh.css", title=titled("Held against fresh models"))
