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


def embedder(images: Images | None) -> Embed:
    """(part, index) → the image as a URI; each is encoded once, however often it appears."""
    known: dict[tuple[str, int], str] = {}

    def embed(part: str, index: int) -> str | None:
        image = picture(images, part, index)
        if image is None:
            return None
        if (part, index) not in known:
            known[part, index] = data_uri(image)
        return known[part, index]

    return embed


def data_uri(image: Image.Image) -> str:
    """`image` as a PNG inside a URI, at its own size: the browser enlarges it."""
    factor = -(-max(image.size) // EMBEDDED)
    small = image.reduce(factor) if factor > 1 else image
    buffer = BytesIO()
    small.save(buffer, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
