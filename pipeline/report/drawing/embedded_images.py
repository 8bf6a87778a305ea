"""Images inside the page: each is there once, on a sheet with others, however often it is shown.

A place of the page shows its part of a sheet (SVG's `use`), so that methods that show the same images share them, and
so that all of them together keep to a number of characters: the page is to be sent by mail.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pipeline.report.content import Images
from pipeline.report.drawing.pasted_images import picture
from pipeline.report.drawing.slots import Slot

EMBEDDED = 96  # pixels; larger images are reduced before they are embedded in the page
COLUMNS, SHEET = 16, 256  # images in a row of a sheet, and on a sheet
BLOCK = 8  # pixels that JPEG codes together: images on other blocks do not stain each other
MOST_CHARACTERS = 1_900_000
"""Of all sheets as text."""
LEVELS: tuple[tuple[int, int | None], ...] = (
    (EMBEDDED, None), (EMBEDDED, 90), (EMBEDDED, 75), (64, 75), (48, 70), (32, 65), (32, 50), (32, 35), (24, 35),
)  # fmt: skip
"""(largest side, quality of JPEG; None is without loss), tried in this order until all images fit."""

Place: TypeAlias = tuple[str, int]
"""("train" or "target", index)."""
Pixels: TypeAlias = NDArray[np.uint8]
LaidOut: TypeAlias = "tuple[list[Sheet], dict[Place, Part]]"


@dataclass(frozen=True)
class Sheet:
    """name: its anchor on the page."""

    name: str
    uri: str
    width: int
    height: int


@dataclass(frozen=True)
class Part:
    """Where an image is: the anchor of its sheet, and left, top, width and height there."""

    sheet: str
    view_box: str


class Pictures:
    """The images of one page. First all of them are asked for (`embed`), then they are laid out (`sheets`, `parts`)."""

    def __init__(self, images: Images | None, most: int = MOST_CHARACTERS) -> None:
        self._images = images
        self._most = most
        self._wanted: dict[Place, None] = {}

    def embed(self, part: str, index: int) -> Picture | None:
        """The image at a place of the page; None where there are no images."""
        if self._images is None:
            return None
        self._wanted[part, index] = None
        return Picture(self, (part, index))

    @cached_property
    def _laid_out(self) -> LaidOut:
        wanted = list(self._wanted)
        for side, quality in LEVELS:
            made = self._try(wanted, side, quality)
            if made is not None:
                return made
        while wanted:  # Thousands of images of pure noise.
            wanted = wanted[: int(0.8 * len(wanted))]
            made = self._try(wanted, *LEVELS[-1])
            if made is not None:
                return made
        return [], {}

    def _try(self, wanted: Sequence[Place], side: int, quality: int | None) -> LaidOut | None:
        """The sheets at one level, or None if they are too long."""
        sheets: list[Sheet] = []
        parts: dict[Place, Part] = {}
        left = self._most
        for start in range(0, len(wanted), SHEET):
            own = wanted[start : start + SHEET]
            sheet, boxes = _sheet(f"sheet-{len(sheets)}", [self._pixels(place, side) for place in own], quality)
            left -= len(sheet.uri)
            if left < 0:
                return None
            sheets.append(sheet)
            parts |= {place: Part(sheet.name, box) for place, box in zip(own, boxes, strict=True)}
        return sheets, parts

    def _pixels(self, place: Place, side: int) -> Pixels:
        image = picture(self._images, *place)
        assert image is not None
        factor = -(-max(image.size) // side)
        return np.asarray(image.reduce(factor) if factor > 1 else image)

    @property
    def sheets(self) -> list[Sheet]:
        """All that was asked for, on as few sheets as it needs."""
        return self._laid_out[0]

    @property
    def parts(self) -> dict[Place, Part]:
        """Image → where it is; without those, the last, that the page has no room for."""
        return self._laid_out[1]


@dataclass(frozen=True)
class Picture:
    """One image at one place of the page."""

    pictures: Pictures
    place: Place

    @property
    def part(self) -> Part | None:
        """Where it is, once the sheets are laid out; None where the page has no room for it."""
        return self.pictures.parts.get(self.place)


def _sheet(name: str, images: Sequence[Pixels], quality: int | None) -> tuple[Sheet, list[str]]:
    """Images in rows of COLUMNS, each in the corner of its cell, whose rest repeats the image's edge."""
    cell = BLOCK * -(-max(max(image.shape[:2]) for image in images) // BLOCK)
    colour = any(image.ndim == 3 for image in images)
    columns, rows = min(COLUMNS, len(images)), -(-len(images) // COLUMNS)
    sheet = np.zeros((rows * cell, columns * cell, *((3,) if colour else ())), np.uint8)
    boxes = []
    for k, image in enumerate(images):
        y, x = (cell * place for place in divmod(k, COLUMNS))
        height, width = image.shape[:2]
        pixels = np.repeat(image[..., None], 3, axis=2) if colour and image.ndim == 2 else image
        rest = ((0, cell - height), (0, cell - width), *(((0, 0),) if colour else ()))
        sheet[y : y + cell, x : x + cell] = np.pad(pixels, rest, mode="edge")
        boxes.append(f"{x} {y} {width} {height}")
    uri = data_uri(Image.fromarray(sheet), quality)
    return Sheet(name, uri, columns * cell, rows * cell), boxes


def data_uri(image: Image.Image, quality: int | None = None) -> str:
    """`image` inside a URI, as PNG or, with a quality, as JPEG."""
    buffer = BytesIO()
    if quality is None:
        image.save(buffer, format="PNG", optimize=True)
    else:
        image.save(buffer, format="JPEG", quality=quality, optimize=True, subsampling=0 if quality > 70 else 2)
    kind = "png" if quality is None else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


@dataclass(frozen=True)
class Tile:
    """A slot and its images; none of them where the store has no images."""

    slot: Slot
    pictures: list[Picture]


def tile_of(slot: Slot, pictures: Pictures) -> Tile:
    """`slot` with its images."""
    shown = [pictures.embed(slot.part, index) for index in slot.shown]
    return Tile(slot, [one for one in shown if one is not None])
