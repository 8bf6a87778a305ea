"""The evidence of a page, looked up for the tests that it shows: curves, galleries, and influences of single images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pipeline.report.content import Influences
from pipeline.report.evidence.curves import HeldOut, curves_of
from pipeline.report.evidence.galleries import galleries_of
from pipeline.report.evidence.influences import FoundAtlas, Names, influences_on, shown_targets, with_influences
from pipeline.report.evidence.influential_images import overall
from pipeline.report.rows import Row
from pipeline.report.work import Progress, silent


def evidence_of(
    drawn: Sequence[Row],
    held_out: HeldOut,
    names: Names,
    found: FoundAtlas | None,
    *,
    higher_is_better: bool = True,
    expectation: str = "",
    progress: Progress = silent,
) -> dict[str, Any]:
    """The fields `curves`, `galleries` and, where an atlas was `found`, `influences` of a page's content.

    drawn: the tests that get a panel.
    """
    targets = list(dict.fromkeys(row.target for row in drawn))
    galleries = galleries_of(targets, held_out, partial(names, "train"), higher_is_better=higher_is_better)
    evidence: dict[str, Any] = {"curves": curves_of(drawn, held_out, progress), "galleries": galleries}
    if found is None:
        return evidence
    influences = _influences(found, targets, expectation, progress)
    return evidence | {"galleries": with_influences(galleries, found), "influences": influences}


def _influences(found: FoundAtlas, with_panels: Sequence[int], expectation: str, progress: Progress) -> Influences:
    """Of single images: on the targets shown, and overall."""
    shown = []
    for target in shown_targets(found, with_panels):
        shown.append(influences_on(found, target))
        progress("influences", 1)
    made = overall(found, tuple(shown))
    return replace(made, expectation=expectation)
