"""Training and target images as tiles of a picture: enlarged without blur, as a mosaic, or as a grey stand-in."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from pipeline.report.content import Images
from pipeline.report.drawing.canvas import BOLD, LINE, MUTED, PLAIN, Canvas, fit, font
from pipeline.report.drawing.slots import Slot


def picture(images: Images | None, part: str, index: int) -> Image.Image | None:
    """A "train" or "target" image at its own size, or None if there are no images."""
    if images is None:
        return None
    return Image.fromarray(np.ascontiguousarray((images.train if part == "train" else images.targets)[index]))


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
