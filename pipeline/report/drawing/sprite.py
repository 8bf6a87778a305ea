"""Many small images as one picture inside the page, from which the script cuts those that it is asked for."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TypeAlias

import numpy as np
from PIL import Image

from pipeline.report.content import Images
from pipeline.report.drawing.pasted_images import picture

SIDE = 32  # pixels; larger images are reduced
COLUMNS = 32
MOST_CHARACTERS = 1_000_000
"""Of the picture as text: the page is to be sent by mail."""
QUALITY = 82

Place: TypeAlias = tuple[str, int]
"""("train" or "target", index)."""


@dataclass(frozen=True)
class Sprite:
    """uri: the picture, squares of `side` pixels in rows of COLUMNS. places: image → the number of its square."""

    uri: str
    side: int
    places: Mapping[Place, int]

    @property
    def columns(self) -> int:
        """Squares in a row."""
        return COLUMNS

    def square(self, place: Place) -> str:
        """Its number as text; "-" for an image that is not in the picture."""
        return str(self.places.get(place, "-"))


def sprite_of(images: Images | None, wanted: Sequence[Place], most: int = MOST_CHARACTERS) -> Sprite | None:
    """The first of `wanted` that fit into so many characters; None where there is nothing to show.

    Without loss as long as all of them fit, else as JPEG, and where that is still too long, fewer of them.
    """
    shown = list(dict.fromkeys(wanted))
    if images is None or not shown:
        return None
    side = min(SIDE, max(images.train.shape[1:3] + images.targets.shape[1:3]))
    sheet = _sheet(images, shown, side)
    uri = _uri(sheet, "PNG", optimize=True)
    while len(uri) > most and shown:
        uri = _uri(_sheet(images, shown, side), "JPEG", quality=QUALITY, subsampling=0)
        if len(uri) > most:
            shown = shown[: int(0.95 * len(shown) * most / len(uri))]
    return Sprite(uri, side, {place: k for k, place in enumerate(shown)}) if shown else None


def _sheet(images: Images, shown: Sequence[Place], side: int) -> Image.Image:
    """The images in their order, each in the middle of its square."""
    grey = images.train.ndim == images.targets.ndim == 3
    rows = -(-len(shown) // COLUMNS)
    size = (side * min(COLUMNS, len(shown)), side * rows)
    sheet = Image.fromarray(np.full((size[1], size[0]) if grey else (size[1], size[0], 3), 228, np.uint8))
    for k, (part, index) in enumerate(shown):
        image = picture(images, part, index)
        assert image is not None
        factor = -(-max(image.size) // side)
        small = (image.reduce(factor) if factor > 1 else image).convert(sheet.mode)
        row, column = divmod(k, COLUMNS)
        corner = column * side + (side - small.width) // 2, row * side + (side - small.height) // 2
        sheet.paste(small, corner)
    return sheet


def _uri(sheet: Image.Image, kind: str, **options: object) -> str:
    buffer = BytesIO()
    sheet.save(buffer, format=kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
