"""robustness.png: the paper's Table 2 with images, and the effects of all re-runs, for each case."""

from __future__ import annotations

from pathlib import Path

from pipeline.report.content import Content, Robustness
from pipeline.report.content.reruns import Case, Rerun
from pipeline.report.drawing.bars import fraction_of
from pipeline.report.drawing.canvas import BOLD, INK, LINE, MUTED, PLAIN, SIDES, Canvas, blank, fit, font, save, wrap
from pipeline.report.drawing.effect_lanes import axis_limit, rows_of_lane
from pipeline.report.drawing.pasted_images import paste_tile
from pipeline.report.drawing.slots import slot_of
from pipeline.report.sentences import effect_of_rerun
from pipeline.text.nouns import worded
from pipeline.text.numbers import fixed, p_equals
from pipeline.text.rerun_roles import ROLES

MARGIN, TILE, COLUMN, ROW = 36, 72, 176, 92
PAIR = 2 * TILE + 60
STEP, GAP = 5, 12
TALLEST = 150
SHOWN = 4
"""Cases: more would make a picture that nobody can look at."""
COLOURS = {"original": INK, "neighbour": SIDES["raises"], "random": SIDES["unsure"], "target": SIDES["lowers"]}


def draw_robustness(path: Path, robustness: Robustness, content: Content) -> None:
    """The first cases below each other."""
    shown = robustness.cases[:SHOWN]
    most = max((len(case.targets) for case in shown), default=1)
    width = 2 * MARGIN + PAIR + max(3, most) * COLUMN
    left_out = f" The first {SHOWN} of {len(robustness.cases)} cases." if len(robustness.cases) > SHOWN else ""
    head = wrap(robustness.explanation + left_out, font(PLAIN, 16), width - 2 * MARGIN, most=4)
    heights = [_height(case) for case in shown]
    canvas = blank(width, MARGIN + 40 + 24 * len(head) + 40 + sum(heights) + MARGIN)
    canvas.draw.text((MARGIN, MARGIN - 6), "Do look-alikes agree?", INK, font(BOLD, 24))
    for k, line in enumerate(head):
        canvas.draw.text((MARGIN, MARGIN + 34 + 24 * k), line, MUTED, font(PLAIN, 16))
    y = MARGIN + 40 + 24 * len(head)
    x = MARGIN
    for role in ROLES.values():
        canvas.draw.ellipse((x, y + 8, x + 10, y + 18), fill=COLOURS[role.name])
        title = worded(role.title, content.noun)
        canvas.draw.text((x + 16, y + 4), title, MUTED, font(PLAIN, 14))
        x += 34 + int(font(PLAIN, 14).getlength(title))
    y += 40
    limit = axis_limit([rerun for case in shown for rerun in case.reruns])
    for case, height in zip(shown, heights, strict=True):
        _case(canvas, case, robustness, content, limit, y)
        y += height
    save(canvas, path)


def _height(case: Case) -> int:
    return 40 + ROW + 24 + ROW * (1 + len(case.near_i)) + _lane_height(case) + 56


def _lane_height(case: Case) -> int:
    return max(sum(_role_height(len(some)) for _, some in rows_of_lane(case, t)) for t in case.targets)


def _role_height(count: int) -> int:
    return min(STEP * count, TALLEST) + GAP if count else 0


def _case(canvas: Canvas, case: Case, robustness: Robustness, content: Content, limit: float, top: int) -> None:
    canvas.draw.text((MARGIN, top), case.title, INK, font(BOLD, 19))
    y = top + 36

    def tile(part: str, index: int, corner: tuple[int, int]) -> None:
        slot = slot_of(content, "", part, (index,), robustness.classes.get((part, index), ""))
        paste_tile(canvas, slot, content.images, corner, TILE)

    for column, target in enumerate(case.targets):
        x = _column(column)
        tile("target", target, (x - TILE // 2, y))
        name = f"{robustness.classes.get(('target', target), '')} {target}".strip()
        canvas.draw.text(
            (x, y + TILE + 3), fit(name, font(PLAIN, 14), COLUMN - 10), MUTED, font(PLAIN, 14), anchor="ma"
        )
    y += ROW + 10
    for role, i, j in case.pairs:
        for k, index in enumerate((i, j)):
            corner = (MARGIN + k * (TILE + 12), y)
            tile("train", index, corner)
            canvas.draw.text((corner[0] + TILE / 2, y + TILE + 1), str(index), MUTED, font(PLAIN, 13), anchor="ma")
        for column, target in enumerate(case.targets):
            _numbers(canvas, case.of_pair(role, i, j, target), (_column(column), y + 16), role == "original")
        y += ROW
    canvas.draw.text((MARGIN, y + 8), "effects Δ with", MUTED, font(PLAIN, 14))
    canvas.draw.text((MARGIN, y + 28), "95 % intervals", MUTED, font(PLAIN, 14))
    for column, target in enumerate(case.targets):
        _lane(canvas, case, target, limit, (_column(column) - COLUMN // 2 + 8, y), COLUMN - 16)


def _column(column: int) -> int:
    return MARGIN + PAIR + column * COLUMN + COLUMN // 2


def _numbers(canvas: Canvas, rerun: Rerun | None, place: tuple[int, int], bold: bool) -> None:
    if rerun is None:
        return
    x, y = place
    canvas.draw.text((x, y), p_equals(rerun.pvalue), INK, font(BOLD if bold else PLAIN, 16), anchor="ma")
    canvas.draw.text((x, y + 24), effect_of_rerun(rerun.effect), MUTED, font(PLAIN, 14), anchor="ma")


def _lane(canvas: Canvas, case: Case, target: int, limit: float, corner: tuple[int, int], width: int) -> None:
    left, top = corner

    def x(value: float) -> float:
        return left + width * fraction_of(value, limit)

    bottom = top + _lane_height(case)
    canvas.draw.line((x(0.0), top, x(0.0), bottom), fill=LINE, width=1)
    y = float(top + GAP // 2)
    for role, some in rows_of_lane(case, target):
        step = min(float(STEP), TALLEST / max(1, len(some)))
        for rerun in some:
            thick = role == "original"
            canvas.draw.line(
                (x(rerun.effect_low), y, x(rerun.effect_high), y), fill=COLOURS[role], width=3 if thick else 1
            )
            r = 5 if thick else 2
            canvas.draw.ellipse((x(rerun.effect) - r, y - r, x(rerun.effect) + r, y + r), fill=COLOURS[role])
            y += step
        y += GAP if some else 0
    canvas.draw.line((left, bottom, left + width, bottom), fill=LINE, width=1)
    for value, anchor in ((-limit, "la"), (0.0, "ma"), (limit, "ra")):
        canvas.draw.text((x(value), bottom + 5), fixed(value, 2), MUTED, font(PLAIN, 13), anchor=anchor)
