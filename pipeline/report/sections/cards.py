"""The panels of the page: findings by target, each with its images, its sentence, its bar and its curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.report.content import Content, Curve, Weighted
from pipeline.report.drawing.bars import Bar, bar_of
from pipeline.report.drawing.pictures import Slot, slots_of
from pipeline.report.drawing.svg import at
from pipeline.report.rows import Numbered, Row
from pipeline.report.words import fixed, number, sentence, weights

CURVE_LEFT, CURVE_TOP, CURVE_SIDE = 18.0, 4.0, 104.0

Embed = Callable[[str, int], str | None]


@dataclass(frozen=True)
class Tile:
    """A slot and its images, embedded; none of them where the store has no images."""

    slot: Slot
    uris: list[str]


@dataclass(frozen=True)
class CurveView:
    """The line of the curve, the area between it and the diagonal, its axes in words, and all of it in one sentence.

    below: it runs mostly under the diagonal, so that there is room above.
    """

    line: str
    area: str
    area_text: str
    below: bool
    first: str
    second: str
    label: str


@dataclass(frozen=True)
class Card:
    """One finding, or one of the closest misses, as a panel."""

    number: int
    name: str
    found: bool
    tiles: list[Tile]
    sentence: str
    row: Row
    bar: Bar | None
    curve: CurveView | None


@dataclass(frozen=True)
class Thumb:
    """One image of a gallery, and its weight as text."""

    tile: Tile
    theta: str


@dataclass(frozen=True)
class TargetGroup:
    """The panels of one target, with the images that its datamodel gives the largest weights."""

    tile: Tile
    r2: float | None
    cards: list[Card]
    helpers: list[Thumb]
    hurters: list[Thumb]


def target_groups(items: Sequence[Numbered], content: Content, limit: float, embed: Embed) -> list[TargetGroup]:
    """The panels by target; the target of the first finding comes first."""
    by_target: dict[int, list[Card]] = {}
    for item in items:
        by_target.setdefault(item.row.target, []).append(_card(item, content, limit, embed))
    return [_group(target, cards, content, embed) for target, cards in by_target.items()]


def tile_of(slot: Slot, embed: Embed) -> Tile:
    uris = [embed(slot.part, index) for index in slot.shown]
    return Tile(slot, [uri for uri in uris if uri is not None])


def _card(item: Numbered, content: Content, limit: float, embed: Embed) -> Card:
    curve = content.curves.get(item.row.key)
    return Card(
        number=item.number,
        name=item.name,
        found=bool(item.row.finding),
        tiles=[tile_of(slot, embed) for slot in slots_of(item.row)],
        sentence=sentence(item, content.unit),
        row=item.row,
        bar=bar_of(item.row, limit),
        curve=None if curve is None else curve_view(curve, content.unit),
    )


def _group(target: int, cards: list[Card], content: Content, embed: Embed) -> TargetGroup:
    gallery = content.galleries.get(target)
    return TargetGroup(
        tile=cards[0].tiles[0],
        r2=_r2(target, content),
        cards=cards,
        helpers=_strip("helper", gallery.helpers, embed) if gallery else [],
        hurters=_strip("hurter", gallery.hurters, embed) if gallery else [],
    )


def _strip(role: str, images: Sequence[Weighted], embed: Embed) -> list[Thumb]:
    texts = weights([image.theta for image in images])
    tiles = [tile_of(Slot(role, "train", (image.index,), image.label), embed) for image in images]
    return [Thumb(tile, text) for tile, text in zip(tiles, texts, strict=True)]


def _r2(target: int, content: Content) -> float | None:
    if content.quality is None:
        return None
    places = [k for k, known in enumerate(content.quality.targets.tolist()) if known == target]
    return float(content.quality.r2[places[0]]) if places else None


def curve_view(curve: Curve, unit: str) -> CurveView:
    """In a square of CURVE_SIDE, 0 at the lower left."""
    points = [
        f"{at(CURVE_LEFT + CURVE_SIDE * x)} {at(CURVE_TOP + CURVE_SIDE * (1.0 - y))}"
        for x, y in zip(curve.x, curve.y, strict=True)
    ]
    line = "M" + "L".join(dict.fromkeys(points))
    compared = curve.kind.compared.format(unit=unit)
    return CurveView(
        line=line,
        area=line + "z",
        area_text=f"area {fixed(curve.area, 2)}",
        below=curve.area < 0.5,
        first=curve.kind.first,
        second=curve.kind.second,
        label=f"Ordinal dominance curve of {compared}: area {number(curve.area)}, where ½ is no difference",
    )
