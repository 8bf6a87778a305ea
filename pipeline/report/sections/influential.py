"""The most influential training images: on how many targets each is a finding, and which it moves most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.content.influences import Influential, Single
from pipeline.report.drawing.embedded_images import Tile, tile_of
from pipeline.report.drawing.slots import slot_of
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled
from pipeline.report.sentences import effect_texts


@dataclass(frozen=True)
class ImageView:
    """An image, and the targets that it moves most, each with the effect as text."""

    tile: Tile
    own: Influential
    strongest: list[tuple[Tile, Single, str]]


@dataclass(frozen=True)
class ImageList:
    """Some images under a title."""

    title: str
    images: list[ImageView]


def data(page: Page) -> Variables | None:
    """The lists that have an image, if there is an atlas."""
    influences = page.content.influences
    if influences is None:
        return None
    unit = page.content.unit
    lists = {
        f"Raise the {unit} on most targets": influences.raising,
        f"Lower the {unit} on most targets": influences.lowering,
        f"{page.content.hurts[:-1].title()} the {unit} on targets of their own class": influences.doubtful,
    }
    shown = [ImageList(title, _views(images, page)) for title, images in lists.items() if images]
    classes = any(image.own_raised is not None for images in lists.values() for image in images)
    return {"influences": influences, "lists": shown, "classes": classes}


def _views(images: Sequence[Influential], page: Page) -> list[ImageView]:
    return [_view(image, page) for image in images]


def _view(image: Influential, page: Page) -> ImageView:
    def target(single: Single) -> tuple[Tile, Single, str]:
        slot = slot_of(page.content, "target", "target", (single.target,), single.class_target)
        return tile_of(slot, page.pictures), single, effect_texts(single)[0]

    slot = slot_of(page.content, f"training {page.content.noun}", "train", (image.image,), image.class_image)
    return ImageView(tile_of(slot, page.pictures), image, [target(single) for single in image.strongest])


SECTION = Section("influential", data, title=titled("Most influential {noun}s"))
