"""All findings in numbers; those without a panel are told in words when they are opened, with their images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from pipeline.report.drawing.slots import Slot, slots_of
from pipeline.report.drawing.sprite import Place, Sprite, sprite_of
from pipeline.report.page import Page
from pipeline.report.rows import Numbered
from pipeline.report.sections.base import Section, Variables
from pipeline.report.sentences import sentence


@dataclass(frozen=True)
class TableRow:
    """A finding, and what its three cells of images say.

    words, squares: if it has no panel, its sentence, and where its images are in the sprite, if there is one.
    """

    item: Numbered
    slots: tuple[Slot, Slot, Slot]
    has_panel: bool
    words: str
    squares: str


def data(page: Page) -> Variables | None:
    """Each method that has findings, with the first of them."""
    if not page.n_findings:
        return None
    with_findings = [method for method in page.methods if method.n_found]
    shown = {method.index: method.listed for method in with_findings}
    sprite = sprite_of(page.content.images, _without_panel(page, shown))
    tables = [
        (method, [_row(item, k < len(method.drawn), page, sprite) for k, item in enumerate(shown[method.index])])
        for method in with_findings
    ]
    opens = any(row.words for _, rows in tables for row in rows)
    return {"tables": tables, "sprite": sprite, "title": title(page), "opens": opens}


def _without_panel(page: Page, shown: dict[int, tuple[Numbered, ...]]) -> list[Place]:
    """The images of findings that have no panel: of each method the first, then of each the second, and so on."""
    others = (shown[method.index][len(method.drawn) :] for method in page.methods if method.n_found)
    items = (item for item in chain(*zip_longest(*others)) if item is not None)
    return [place for item in items for slot in slots_of(item.row, page.content) for place in _places(slot)]


def _places(slot: Slot) -> Sequence[Place]:
    return [(slot.part, index) for index in slot.shown]


def _row(item: Numbered, has_panel: bool, page: Page, sprite: Sprite | None) -> TableRow:
    slots = slots_of(item.row, page.content)
    squares = ""
    if sprite is not None and not has_panel:
        squares = ";".join(" ".join(sprite.square(place) for place in _places(slot)) for slot in slots)
    return TableRow(item, slots, has_panel, "" if has_panel else sentence(item, page.content), squares)


def title(page: Page) -> str:
    """In the contents, and over the section: the table may not have all of them."""
    return "The first findings in numbers" if any(m.not_listed for m in page.methods) else "All findings in numbers"


SECTION = Section("table", data, title=title)
