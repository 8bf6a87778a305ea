"""The pictures beside the page: one PNG per finding, and a contact sheet in the spirit of the paper's figure."""

from __future__ import annotations

from pathlib import Path

from pipeline.report.content import Content, Images
from pipeline.report.drawing.bars import bar_of
from pipeline.report.drawing.canvas import (
    BOLD,
    INK,
    LINE,
    MUTED,
    PLAIN,
    Canvas,
    blank,
    draw_bar,
    draw_curve,
    fit,
    font,
    save,
    wrap,
)
from pipeline.report.drawing.pasted_images import paste_tile
from pipeline.report.drawing.slots import Slot, slots_of
from pipeline.report.groups import Group
from pipeline.report.page import Page
from pipeline.report.rows import Numbered, Row
from pipeline.report.sentences import effect_and_interval, effect_texts, promise, sentence, verdict
from pipeline.text.numbers import number, p_equals, pvalue

MARGIN, GAP = 36, 20
TILE = 224
ASIDE = 290  # width of the column of numbers
SQUARE = 206  # side of the curve
WIDTH = 2 * MARGIN + 3 * TILE + 2 * GAP + 2 * GAP + ASIDE + 2 * GAP + SQUARE
SMALL = 128  # tiles of the contact sheet
SHEET = 12  # findings on the contact sheet


def draw_panel(path: Path, finding: Numbered, content: Content, bar_end: float) -> None:
    """Target | image i | image j, the numbers with the bar against zero, the curve, and the sentence."""
    row = finding.row
    text = wrap(sentence(finding, content), font(PLAIN, 20), WIDTH - 2 * MARGIN, most=4)
    note = wrap(row.note, font(PLAIN, 16), WIDTH - 2 * MARGIN, most=2)
    top = 72
    below = top + 26 + TILE + 80
    canvas = blank(WIDTH, below + 30 * len(text) + 23 * len(note) + MARGIN - 8)
    canvas.draw.text((MARGIN, 28), f"Finding {finding.number:,}", INK, font(BOLD, 24))
    n_tests = next(group.n_tests for group in content.groups if group.method == row.method)
    method = fit(f"{row.method}, {promise(content, n_tests)}", font(PLAIN, 18), WIDTH - 2 * MARGIN - 200)
    canvas.draw.text((WIDTH - MARGIN, 33), method, MUTED, font(PLAIN, 18), anchor="ra")
    for column, slot in enumerate(slots_of(row, content)):
        _column(canvas, slot, content.images, (MARGIN + column * (TILE + GAP), top), TILE)
    _numbers(canvas, row, bar_end, (WIDTH - MARGIN - ASIDE - 2 * GAP - SQUARE, top + 24))
    curve = content.curves.get(row.key)
    if curve is not None:
        draw_curve(canvas, curve, (WIDTH - MARGIN - SQUARE, top + 27), SQUARE)
    for k, line in enumerate(text):
        canvas.draw.text((MARGIN, below + 30 * k), line, INK, font(PLAIN, 20))
    for k, line in enumerate(note):
        canvas.draw.text((MARGIN, below + 30 * len(text) + 6 + 23 * k), line, MUTED, font(PLAIN, 16))
    save(canvas, path)


def draw_overview(path: Path, page: Page) -> None:
    """The first findings of each method side by side; without any, the closest misses, labelled as such."""
    groups, content = page.groups, page.content
    most = max(2, SHEET // max(len(groups), 1))
    cell_width, cell_height = 3 * SMALL + 2 * 12, SMALL + 104
    width = 2 * MARGIN + 2 * cell_width + 3 * GAP
    blocks = [(group, group.drawn(most)) for group in groups]
    heads = [_head(group, content, len(groups) > 1, width - 2 * MARGIN) for group, _ in blocks]
    heights = [
        32 * len(h) + 24 + cell_height * -(-len(cells) // 2) for h, (_, cells) in zip(heads, blocks, strict=True)
    ]
    title = wrap(content.title, font(PLAIN, 19), width - 2 * MARGIN, most=2)
    canvas = blank(width, MARGIN + 28 * len(title) + max(sum(heights), 40))
    for k, line in enumerate(title):
        canvas.draw.text((MARGIN, MARGIN - 8 + 28 * k), line, MUTED, font(PLAIN, 19))
    y = MARGIN + 28 * len(title)
    for head, (group, cells), height in zip(heads, blocks, heights, strict=True):
        for k, line in enumerate(head):
            canvas.draw.text((MARGIN, y + 32 * k), line, INK, font(BOLD, 22))
        for k, cell in enumerate(cells):
            corner = (MARGIN + (k % 2) * (cell_width + 3 * GAP), y + 32 * len(head) + 24 + (k // 2) * cell_height)
            _cell(canvas, cell, group.n_found > 0, content, corner)
        y += height
    save(canvas, path)


def _head(group: Group, content: Content, several: bool, width: int) -> list[str]:
    text = verdict(group, content)
    if group.misses:
        text += " The closest misses, not findings:"
    return wrap(f"{group.method}: {text}" if several else text, font(BOLD, 22), width, most=4)


def _cell(canvas: Canvas, cell: Numbered, found: bool, content: Content, corner: tuple[int, int]) -> None:
    """One triple of the contact sheet."""
    x, y = corner
    head = f"{cell.number:,}   {p_equals(cell.row.pvalue)}" + ("" if found else "   not a finding")
    canvas.draw.text((x, y), head, INK if found else MUTED, font(BOLD, 17))
    effect = f"Δ = {effect_texts(cell.row)[0]}" if bar_of(cell.row, 1.0) else "Δ not estimated"
    canvas.draw.text((x + 3 * SMALL + 24, y), effect, MUTED, font(PLAIN, 17), anchor="ra")
    for column, slot in enumerate(slots_of(cell.row, content)):
        _column(canvas, slot, content.images, (x + column * (SMALL + 12), y + 26), SMALL)


def _column(canvas: Canvas, slot: Slot, images: Images | None, corner: tuple[int, int], side: int) -> None:
    """An image with its role above and its class and position below."""
    x, y = corner
    large = side > SMALL
    above = 26 if large else 0
    if large:
        canvas.draw.text((x, y), slot.role, MUTED, font(PLAIN, 16))
    paste_tile(canvas, slot, images, (x, y + above), side)
    face, size = (font(BOLD, 19), 16) if large else (font(BOLD, 14), 13)
    below = y + above + side + (10 if large else 6)
    canvas.draw.text((x, below), fit(slot.name, face, side), INK, face)
    place = slot.place if large or slot.role == slot.part else f"{slot.role}, {slot.place}"
    line = below + (27 if large else 20)
    canvas.draw.text((x, line), fit(place, font(PLAIN, size), side), MUTED, font(PLAIN, size))


def _numbers(canvas: Canvas, row: Row, limit: float, corner: tuple[int, int]) -> None:
    """The column of numbers, and the bar below them."""
    x, y = corner
    lines = (
        ("p-value", pvalue(row.pvalue)),
        ("adjusted p-value", pvalue(row.pvalue_adjusted)),
        ("U", number(row.statistic, 4)),
        ("θᵢ", number(row.theta_i)),
        ("θⱼ", number(row.theta_j)),
        ("effect Δ", effect_and_interval(row)),
        *([] if row.n_rows is None else [("models that tested it", f"{row.n_rows:,}")]),
    )
    for k, (label, value) in enumerate(lines):
        top = y + 28 * k
        canvas.draw.text((x, top), label, MUTED, font(PLAIN, 16))
        if label.startswith("θ"):  # the plain layout of PIL does not place a combining hat
            canvas.draw.text((x + 5, top - 3), "ˆ", MUTED, font(PLAIN, 16), anchor="ma")
        canvas.draw.text((x + ASIDE, top), value, INK, font(PLAIN, 16), anchor="ra")
        canvas.draw.line((x, top + 23, x + ASIDE, top + 23), fill=LINE)
    bar = bar_of(row, limit)
    if bar is not None:
        draw_bar(canvas.draw, bar, limit, (x + 14, x + ASIDE - 14, y + 28 * len(lines) + 54))
