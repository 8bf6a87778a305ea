"""Images inside the page, as URIs: each is encoded once."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import TypeAlias

from PIL import Image

from pipeline.report.content import Images
from pipeline.report.drawing.pasted_images import picture
from pipeline.report.drawing.slots import Slot

EMBEDDED = 96  # pixels; larger images are reduced before they are embedded in the page
LOSSLESS_CHARACTERS = 2_000_000
FEW_COLOURS = 48
"""After so many characters of images, those that follow on the page have so few colours: it is to be sent by mail."""

Embed: TypeAlias = Callable[[str, int], str | None]
"""(part, index) → the image as a URI, None where there are no images."""


@dataclass(frozen=True)
class Tile:
    """A slot and its images, embedded; none of them where the store has no images."""

    slot: Slot
    uris: list[str]


def tile_of(slot: Slot, embed: Embed) -> Tile:
    """`slot` with its images."""
    uris = [embed(slot.part, index) for index in slot.shown]
    return Tile(slot, [uri for uri in uris if uri is not None])


def embedder(images: Images | None, lossless: int = LOSSLESS_CHARACTERS) -> Embed:
    """(part, index) → the image as a URI; each is encoded once, however often it appears.

    Every appearance counts: from `lossless` characters on, colour images are encoded with FEW_COLOURS.
    """
    known: dict[tuple[str, int, bool], str] = {}
    spent = 0

    def embed(part: str, index: int) -> str | None:
        nonlocal spent
        image = picture(images, part, index)
        if image is None:
            return None
        few = spent > lossless and image.mode != "L"
        if (part, index, few) not in known:
            known[part, index, few] = data_uri(image, FEW_COLOURS if few else None)
        spent += len(known[part, index, few])
        return known[part, index, few]

    return embed


def data_uri(image: Image.Image, colours: int | None = None) -> str:
    """`image` as a PNG inside a URI, at its own size: the browser enlarges it. colours: at most so many."""
    factor = -(-max(image.size) // EMBEDDED)
    small = image.reduce(factor) if factor > 1 else image
    if colours is not None:
        small = small.quantize(colours)
    buffer = BytesIO()
    small.save(buffer, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
