"""How to read a panel: sign and unit once in words; the rest of the vocabulary behind a click."""

from __future__ import annotations

from datamodels_inf.methods import METHODS
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables
from pipeline.report.sentences import blocks_sentence


def data(page: Page) -> Variables:
    """What the methods and curves of this page need to be read, and where models test in blocks, how they do."""
    blocks = page.content.blocks
    return {
        "blocks": blocks,
        "how": "" if blocks is None else blocks_sentence(blocks),
        "longer": [(method.name, method.longer) for method in page.methods if method.longer],
        "statistic_notes": statistic_notes(page),
        "curve_notes": curve_notes(page),
        "influences": page.content.influences,
        "loaded": page.content.quality is not None and page.content.quality.loaded,
    }


def statistic_notes(page: Page) -> list[str]:
    """What U is for those methods of the page that have one of their own."""
    known = [METHODS[method.name] for method in page.methods if method.name in METHODS]
    return [method.statistic_note.format(unit=page.content.unit) for method in known if method.statistic_note]


def curve_notes(page: Page) -> str:
    """What the two samples are, for each kind of curve on the page, in the order of the methods."""
    present = {curve.kind.name for curve in page.content.curves.values()}
    known = {method.curve.name: method.curve for method in METHODS.values()}
    return " ".join(kind.note.format(unit=page.content.unit) for name, kind in known.items() if name in present)


SECTION = Section("reading", data, inside="findings")
