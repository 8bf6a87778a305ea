"""Training and target images as tiles: enlarged without blur, embedded in a page, or as a grey stand-in."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

from pipeline.report.content import Images
from pipeline.report.drawing.canvas import BOLD, LINE, MUTED, PLAIN, Canvas, fit, font
from pipeline.report.rows import Row
from pipeline.report.words import class_name, place, plural

EMBEDDED = 96  # pixels; larger images are reduced before they are embedded in the page
MOSAIC = 9  # images of a group that are shown


@dataclass(frozen=True)
class Slot:
    """One of the three places of a test: its role, its image or the images of its group, and its class."""

    role: str
    part: str
    indices: tuple[int, ...]
    label: str

    @property
    def place(self) -> str:
        """ "train 12" or "target 17"."""
        return place(self.part, self.indices)

    @property
    def name(self) -> str:
        """The class, and of a group how many images."""
        label = class_name(self.label)
        return label if len(self.indices) == 1 else f"{label}, {plural(len(self.indices), 'image')}"

    @property
    def alt(self) -> str:
        """What a reader who cannot see the image is told."""
        return f"{self.role}: {self.name}, {self.place}"

    @property
    def shown(self) -> tuple[int, ...]:
        return self.indices[:MOSAIC]

    @property
    def columns(self) -> int:
        """Of the square of a group's images."""
        return math.ceil(math.sqrt(len(self.shown)))


def slots_of(row: Row) -> tuple[Slot, Slot, Slot]:
    """Target, image i and image j, in the order of the paper's figure."""
    many = len(row.left) > 1
    return (
        Slot("target", "target", (row.target,), row.class_target),
        Slot("group i" if many else "image i", "train", row.left, row.class_i),
        Slot("group j" if many else "image j", "train", row.right, row.class_j),
    )


def picture(images: Images | None, part: str, index: int) -> Image.Image | None:
    """A "train" or "target" image at its own size, or None if there are no images."""
    if images is None:
        return None
    return Image.fromarray(np.ascontiguousarray((images.train if part == "train" else images.targets)[index]))


def embedder(images: Images | None) -> Callable[[str, int], str | None]:
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


def paste_tile(canvas: Canvas, slot: Slot, images: Images | None, corner: tuple[int, int], side: int) -> None:
    """Draw `slot` as a square of `side` pixels: the image enlarged by a whole factor, a mosaic, or a grey stand-in."""
    if images is None:
        _stand_in(canvas.draw, slot, corner, side)
        return
    part = side // slot.columns
    for k, index in enumerate(slot.shown):
        row, column = divmod(k, slot.columns)
        image = picture(images, slot.part, index)
        assert image is not None
        inner = part if slot.columns == 1 else part - 4
        tile = _enlarged(image.convert("RGB"), inner)
        x = corner[0] + column * part + (inner - tile.width) // 2
        y = corner[1] + row * part + (inner - tile.height) // 2
        canvas.image.paste(tile, (x, y))
        canvas.draw.rectangle((x - 1, y - 1, x + tile.width, y + tile.height), outline=LINE)


def _enlarged(image: Image.Image, side: int) -> Image.Image:
    longest = max(image.size)
    if longest > side:
        return image.reduce(-(-longest // side))
    factor = side // longest
    return image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)


def _stand_in(draw: ImageDraw.ImageDraw, slot: Slot, corner: tuple[int, int], side: int) -> None:
    x, y = corner
    draw.rectangle((x, y, x + side - 1, y + side - 1), fill="#e4e4e0", outline=LINE)
    large, small = font(BOLD, side // 9), font(PLAIN, side // 12)
    middle = x + side / 2
    draw.text((middle, y + 0.44 * side), fit(slot.name, large, side - 12), MUTED, large, anchor="mm")
    draw.text((middle, y + 0.60 * side), fit(slot.place, small, side - 12), MUTED, small, anchor="mm")
