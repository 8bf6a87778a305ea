"""One training or target image as a tile: enlarged without blur, embedded in a page, or as a grey stand-in."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

from pipeline.report.content import Images, Row
from pipeline.report.drawing import BOLD, LINE, MUTED, PLAIN, Canvas, fit, font

EMBEDDED = 96  # pixels; larger images are reduced before they are embedded in the page


@dataclass(frozen=True)
class Slot:
    """One of the three images of a test: its role, where it stands, and its class."""

    role: str
    part: str
    index: int
    label: str

    @property
    def place(self) -> str:
        """ "train 12" or "target 17"."""
        return f"{self.part} {self.index}"

    @property
    def alt(self) -> str:
        """What a reader who cannot see the image is told."""
        return f"{self.role}: {self.label or 'image'}, {self.place}"


def slots_of(row: Row) -> tuple[Slot, Slot, Slot]:
    """Target, image i and image j, in the order of the paper's figure."""
    return (
        Slot("target", "target", row.target, row.class_target),
        Slot("image i", "train", row.i, row.class_i),
        Slot("image j", "train", row.j, row.class_j),
    )


def picture(images: Images | None, slot: Slot) -> Image.Image | None:
    """The image in `slot`, at its own size, or None if there are no images."""
    if images is None:
        return None
    return Image.fromarray(np.ascontiguousarray((images.train if slot.part == "train" else images.targets)[slot.index]))


def data_uri(image: Image.Image) -> str:
    """`image` as a PNG inside a URI, at its own size: the browser enlarges it."""
    factor = -(-max(image.size) // EMBEDDED)
    small = image.reduce(factor) if factor > 1 else image
    buffer = BytesIO()
    small.save(buffer, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def paste_tile(canvas: Canvas, slot: Slot, images: Images | None, corner: tuple[int, int], side: int) -> None:
    """Draw `slot` as a square of `side` pixels: the image enlarged by a whole factor, or a grey stand-in."""
    image = picture(images, slot)
    if image is None:
        _stand_in(canvas.draw, slot, corner, side)
        return
    tile = _enlarged(image.convert("RGB"), side)
    x, y = corner[0] + (side - tile.width) // 2, corner[1] + (side - tile.height) // 2
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
    draw.text((middle, y + 0.44 * side), fit(slot.label or "image", large, side - 12), MUTED, large, anchor="mm")
    draw.text((middle, y + 0.60 * side), slot.place, MUTED, small, anchor="mm")
