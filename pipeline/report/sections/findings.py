"""The findings as panels by target, or the closest misses and what could have been found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pipeline.report.content import Content, Weighted
from pipeline.report.drawing.bars import Bar, bar_of
from pipeline.report.drawing.dominance_curve import CurveView, curve_view
from pipeline.report.drawing.embedded_images import Tile, tile_of
from pipeline.report.drawing.influence_dots import Dot, dot_of
from pipeline.report.drawing.slots import slot_of, slots_of
from pipeline.report.output.panels import draw_overview, draw_panel
from pipeline.report.output.tests_table import write_findings, write_tests
from pipeline.report.page import MethodOnPage, Page
from pipeline.report.rows import Numbered, Row
from pipeline.report.sections.base import File, Section, Variables
from pipeline.report.sentences import models_of, sentence
from pipeline.text.given_names import one_line
from pipeline.text.numbers import weights


@dataclass(frozen=True)
class Card:
    """One finding, or one of the closest misses, as a panel. models: how many tested it, in words."""

    number: int
    name: str
    found: bool
    tiles: list[Tile]
    sentence: str
    models: str
    row: Row
    bar: Bar | None
    curve: CurveView | None


@dataclass(frozen=True)
class Thumb:
    """One image of a gallery, the target, its weight as text, and its influence where that is known."""

    tile: Tile
    target: int
    theta: str
    dot: Dot | None


@dataclass(frozen=True)
class TargetGroup:
    """The panels of one target, with the images that its datamodel gives the largest weights."""

    tile: Tile
    r2: float | None
    cards: list[Card]
    helpers: list[Thumb]
    hurters: list[Thumb]

    @property
    def intervals(self) -> str:
        """What stands below the images in place of weights, where it does."""
        return (
            "; below, their influence (● finding, ○ none)"
            if any(thumb.dot for thumb in (*self.helpers, *self.hurters))
            else ""
        )


def data(page: Page) -> Variables:
    """The panels of each method, and what they can be filtered by."""
    used = {name for row in page.findings for name in (row.class_i, row.class_j)}
    return {
        "title": title(page),
        "of_methods": [(method, target_groups(method, page)) for method in page.methods],
        "class_options": [(k, name) for name, k in page.class_numbers.items() if name in used],
        "train_options": _named_train(page),
        "target_options": sorted({(row.target, _called(row, page.content)) for row in page.findings}),
    }


def _named_train(page: Page) -> list[tuple[int, str]]:
    """Number and name of what the findings are about, where it has a name."""
    members = sorted({member for row in page.findings for member in (*row.left, *row.right)})
    names = ((member, one_line(page.content.names.of("train", member))) for member in members)
    return [(member, name) for member, name in names if name]


def _called(row: Row, content: Content) -> str:
    """A target in the list of targets: by its name, or else by its class."""
    return one_line(content.names.of("target", row.target)) or row.class_target


def files(page: Page) -> Sequence[File]:
    """Tables of findings and of all tests, a contact sheet, and a picture of each panel that is a finding."""
    told: dict[str, Any] = {"groups": page.groups, "names": page.content.names, "progress": page.progress}
    tables = [
        File("findings.csv", partial(write_findings, **told), "the findings, by number"),
        File("tests.csv", partial(write_tests, **told), "all tests"),
    ]
    drawn = [item for method in page.methods if method.n_found for item in method.drawn]
    return [*tables, File("overview.png", partial(draw_overview, page=page)), *(_panel(item, page) for item in drawn)]


def _panel(item: Numbered, page: Page) -> File:
    draw = partial(draw_panel, finding=item, content=page.content, bar_end=page.bar_end)
    return File(panel_path(item), draw, "one picture per panel of a finding")


def panel_path(item: Numbered) -> str:
    """Of the picture of a finding, inside the report."""
    return f"panels/{item.stem}-{item.number:03d}.png"


def target_groups(method: MethodOnPage, page: Page) -> list[TargetGroup]:
    """The panels by target; the target of the first finding comes first."""
    by_target: dict[int, list[Card]] = {}
    for item in method.drawn:
        by_target.setdefault(item.row.target, []).append(_card(item, page))
    return [_group(target, cards, page) for target, cards in by_target.items()]


def _card(item: Numbered, page: Page) -> Card:
    content = page.content
    curve = content.curves.get(item.row.key)
    return Card(
        number=item.number,
        name=item.name,
        found=bool(item.row.finding),
        tiles=[tile_of(slot, page.pictures) for slot in slots_of(item.row, content)],
        sentence=sentence(item, content),
        models=models_of(item.row, content),
        row=item.row,
        bar=bar_of(item.row, page.bar_end),
        curve=None if curve is None else curve_view(curve, content.unit),
    )


def _group(target: int, cards: list[Card], page: Page) -> TargetGroup:
    gallery = page.content.galleries.get(target)
    return TargetGroup(
        tile=cards[0].tiles[0],
        r2=_r2(target, page.content),
        cards=cards,
        helpers=_strip("helper", target, gallery.helpers, page) if gallery else [],
        hurters=_strip("hurter", target, gallery.hurters, page) if gallery else [],
    )


def _strip(role: str, target: int, images: Sequence[Weighted], page: Page) -> list[Thumb]:
    texts = weights([image.theta for image in images])
    slots = [slot_of(page.content, role, "train", (image.index,), image.label) for image in images]
    tiles = [tile_of(slot, page.pictures) for slot in slots]
    dots = [None if image.single is None else dot_of(image.single, page.influence_end) for image in images]
    return [Thumb(tile, target, text, dot) for tile, text, dot in zip(tiles, texts, dots, strict=True)]


def _r2(target: int, content: Content) -> float | None:
    if content.quality is None:
        return None
    places = [k for k, known in enumerate(content.quality.targets.tolist()) if known == target]
    return float(content.quality.r2[places[0]]) if places else None


def title(page: Page) -> str:
    """In the contents, and over the section."""
    return "Findings" if page.n_findings or not page.methods else "Closest misses"


SECTION = Section("findings", data, files, title=title)
