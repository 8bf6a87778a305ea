"""Text and lines on a white sheet, with the font that matplotlib ships, so that every machine draws the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from pipeline.report.content import Curve
from pipeline.report.drawing.bars import Bar
from pipeline.text.numbers import fixed, number

PLAIN, BOLD = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"
PAPER, INK, MUTED, LINE = "#ffffff", "#1b1b19", "#5f5f5a", "#c9c9c3"
# Colour-blind safe (Okabe and Ito); the words "raises" and "lowers" always stand beside them.
CURVE = "#00598c"
SIDES = {"raises": "#0072B2", "lowers": "#D55E00", "unsure": "#6f6f6a"}
PALE = {"raises": "#bfdcec", "lowers": "#f4d5bf", "unsure": "#dbdbd8"}

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


def draw_curve(canvas: Canvas, curve: Curve, corner: tuple[int, int], side: int) -> None:
    """An ordinal dominance curve in a square, its axes named; drawn three times as large and reduced, to be smooth."""
    big = 3 * side
    sheet = Image.new("RGB", (big, big), PAPER)
    pen = ImageDraw.Draw(sheet)
    points = [(x * (big - 1), (1.0 - y) * (big - 1)) for x, y in zip(curve.x, curve.y, strict=True)]
    pen.polygon(points, fill="#cfe0ea")
    for k in range(0, 40, 2):
        a, b = k / 40, (k + 1) / 40
        pen.line((a * big, (1 - a) * big, b * big, (1 - b) * big), fill=MUTED, width=4)
    pen.line(points, fill=CURVE, width=8, joint="curve")
    x, y = corner
    canvas.image.paste(sheet.reduce(3), corner)
    canvas.draw.rectangle((x, y, x + side - 1, y + side - 1), outline=LINE, width=2)
    small, text = font(PLAIN, 14), f"area {fixed(curve.area, 2)}"
    if curve.area < 0.5:
        canvas.draw.text((x + 12, y + 10), text, MUTED, small)
    else:
        canvas.draw.text((x + side - 12, y + side - 12), text, MUTED, small, anchor="rd")
    first, second = curve.kind.first, curve.kind.second
    canvas.draw.text((x + side / 2, y + side + 8), first, MUTED, small, anchor="ma")
    canvas.draw.text((x, y - 8), f"{second} ↑", MUTED, small, anchor="ld")


def draw_bar(draw: ImageDraw.ImageDraw, bar: Bar, limit: float, box: tuple[int, int, int]) -> None:
    """The effect as a pale bar from zero with a dot, its interval as a line; `box`: left, right, height of the line."""
    left, right, y = box
    small = font(PLAIN, 14)
    middle = (left + right) / 2
    draw.line((left, y, right, y), fill=LINE, width=2)
    dot = left + bar.effect * (right - left)
    draw.rectangle((min(dot, middle), y - 9, max(dot, middle), y + 9), fill=PALE[bar.side])
    draw.line((middle, y - 18, middle, y + 18), fill=INK, width=2)
    _draw_intervals(draw, bar, box)
    radius, ink, edge = (6, SIDES[bar.side], PAPER) if bar.longer is None else (3, PAPER, SIDES[bar.side])
    draw.ellipse((dot - radius, y - radius, dot + radius, y + radius), fill=ink, outline=edge, width=1)
    for at, text, anchor in ((left, number(-limit), "la"), (middle, "0", "ma"), (right, number(limit), "ra")):
        draw.text((at, y + 22), text, MUTED, small, anchor=anchor)
    draw.text((left, y - 22), "lowers", MUTED, small, anchor="ld")
    draw.text((right, y - 22), "raises", MUTED, small, anchor="rd")


def _draw_intervals(draw: ImageDraw.ImageDraw, bar: Bar, box: tuple[int, int, int]) -> None:
    """The 95 % interval as a line; where a finding has a longer one, that is a thin line and the 95 % one thick."""
    left, right, y = box
    spans = (bar.outer.low, bar.outer.high, bar.interval.low, bar.interval.high)
    low, high, thick_low, thick_high = (left + fraction * (right - left) for fraction in spans)
    colour, width = SIDES[bar.side], 4 if bar.longer is None else 2
    draw.line((low, y, high, y), fill=colour, width=width)
    if bar.longer is not None:
        draw.rectangle((thick_low, y - 6, thick_high, y + 6), fill=colour)
    for is_open, x, way in ((bar.outer.open_low, low, -1), (bar.outer.open_high, high, 1)):
        if is_open:
            draw.polygon([(x, y - 11), (x, y + 11), (x + 12 * way, y)], fill=colour)
        else:
            draw.line((x, y - 9, x, y + 9), fill=colour, width=max(width - 1, 2))
