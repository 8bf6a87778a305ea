"""Text and lines on a white sheet, with the font that matplotlib ships, so that every machine draws the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from pipeline.report.bars import Bar
from pipeline.report.words import number

PLAIN, BOLD = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"
PAPER, INK, MUTED, LINE = "#ffffff", "#1b1b19", "#5f5f5a", "#c9c9c3"
# Colour-blind safe (Okabe and Ito); the words "raises" and "lowers" always stand beside them.
SIDES = {"raises": "#0072B2", "lowers": "#D55E00", "unsure": "#6f6f6a"}

Font: TypeAlias = ImageFont.FreeTypeFont


@dataclass(frozen=True)
class Canvas:
    """A sheet and the pen for it."""

    image: Image.Image
    draw: ImageDraw.ImageDraw


def blank(width: int, height: int) -> Canvas:
    """A white sheet."""
    image = Image.new("RGB", (width, height), PAPER)
    return Canvas(image, ImageDraw.Draw(image))


def save(canvas: Canvas, path: Path) -> None:
    """Write the sheet as PNG, without a date or any other metadata."""
    canvas.image.save(path, format="PNG", compress_level=6)


@lru_cache(maxsize=32)
def font(name: str, size: int) -> Font:
    """A font at a size in pixels."""
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
    return ImageFont.truetype(str(path), max(size, 8), layout_engine=ImageFont.Layout.BASIC)


def fit(text: str, face: Font, width: float) -> str:
    """`text` on one line, cut with "…" where it is wider than `width`."""
    text = " ".join(text.split())
    if face.getlength(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if face.getlength(text[:middle] + "…") <= width else (low, middle - 1)
    return text[:low].rstrip() + "…"


def wrap(text: str, face: Font, width: float, most: int) -> list[str]:
    """`text` in at most `most` lines; the last one is cut with "…" if that is too few."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most - 1:
        count = 1
        while count < len(words) and face.getlength(" ".join(words[: count + 1])) <= width:
            count += 1
        lines.append(fit(" ".join(words[:count]), face, width))
        words = words[count:]
    return [*lines, fit(" ".join(words), face, width)] if words else lines


def draw_bar(draw: ImageDraw.ImageDraw, bar: Bar, limit: float, box: tuple[int, int, int]) -> None:
    """An interval as a bar, the effect as a dot, against zero; `box` is left, right, and the height of the line."""
    left, right, y = box
    small = font(PLAIN, 15)
    colour = SIDES[bar.side]
    middle = (left + right) / 2
    draw.line((left, y, right, y), fill=LINE, width=2)
    draw.line((middle, y - 18, middle, y + 18), fill=INK, width=2)
    low, high = (left + fraction * (right - left) for fraction in (bar.low, bar.high))
    draw.rounded_rectangle((low, y - 5, max(high, low + 2), y + 5), radius=4, fill=colour)
    for is_open, x, way in ((bar.open_low, left, -1), (bar.open_high, right, 1)):
        if is_open:
            draw.polygon([(x, y - 11), (x, y + 11), (x + 12 * way, y)], fill=colour)
    dot = left + bar.effect * (right - left)
    draw.ellipse((dot - 8, y - 8, dot + 8, y + 8), fill=colour, outline=PAPER, width=2)
    for at, text, anchor in ((left, number(-limit), "la"), (middle, "0", "ma"), (right, number(limit), "ra")):
        draw.text((at, y + 22), text, MUTED, small, anchor=anchor)
    draw.text((left, y - 22), "lowers", MUTED, small, anchor="ld")
    draw.text((right, y - 22), "raises", MUTED, small, anchor="rd")
