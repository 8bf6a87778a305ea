"""Robustness on the page: a finding's pair tested again with look-alikes, the paper's Table 2 with images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pipeline.report.drawing.bars import STEPS
from pipeline.report.drawing.pictures import Slot
from pipeline.report.drawing.svg import Tick, at, ticks_of
from pipeline.report.sections.cards import Embed, Tile
from pipeline.report.words import fixed, number, pvalue

ROLES = ("original", "neighbour", "random", "target")
NAMES = {
    "original": "the pair itself",
    "neighbour": "look-alikes of both images",
    "random": "random images of the same classes",
    "target": "the pair itself, on look-alikes of the target",
}
METRICS = {
    "pixels": "pixels (Euclidean distance, standardised by channel)",
    "features": "features (1 − cosine in the layer before the last of a network, or of the user's own embeddings)",
    "influence": "influence (1 − cosine of the weights on targets that are not tested)",
}
TileOf = Callable[[str, int, str], Tile]
"""(part, index, role) → the image with its name."""
LEFT, RIGHT = 10.0, 310.0
STEP, TALLEST = 4.0, 110.0  # between intervals, and all intervals of one role
GAP = 9.0


@dataclass(frozen=True)
class Rerun:
    """One test; `of` is the target whose original it is compared with."""

    role: str
    i: int
    j: int
    target: int
    of: int
    pvalue: float
    adjusted: float
    effect: float
    effect_low: float
    effect_high: float


@dataclass(frozen=True)
class Alike:
    """A look-alike and its distance; `near_copy` where it is all but the same image."""

    index: int
    distance: float
    near_copy: bool


@dataclass(frozen=True)
class Agreement:
    """See `datamodels_inf.neighbours.agreement`; NaN where it is not defined."""

    n: int
    same_sign: float
    effects: float
    pvalues: float


@dataclass(frozen=True)
class Case:
    """A pair that was tested again. number: of its finding, 0 for a pair that the user named."""

    number: int
    i: int
    j: int
    targets: tuple[int, ...]
    near_i: tuple[Alike, ...]
    near_j: tuple[Alike, ...]
    agreement: Mapping[str, Agreement]
    reruns: tuple[Rerun, ...]


@dataclass(frozen=True)
class Robustness:
    """All cases. explanation: what their p-values may be used for. classes: of ("train", i) and ("target", t)."""

    method: str
    metric: str
    explanation: str
    n_tests: int
    n_models: int
    classes: Mapping[tuple[str, int], str]
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Cell:
    """A p-value of the table and its effect, as text; both empty where there was no such test."""

    pvalue: str
    effect: str


@dataclass(frozen=True)
class Line:
    """A row of the table: a pair with its images, or in words, and a cell for each target."""

    pair: tuple[Tile, ...]
    words: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Marks:
    """Of one role: its intervals and effects as SVG paths."""

    role: str
    intervals: str
    dots: str


@dataclass(frozen=True)
class Lane:
    """The effects of all re-runs on one target."""

    tile: Tile
    marks: tuple[Marks, ...]
    height: float
    ticks: list[Tick]
    zero: float
    label: str


@dataclass(frozen=True)
class Strip:
    """The look-alikes of one image."""

    title: str
    own: Tile
    near: tuple[tuple[Tile, str, bool], ...]


@dataclass(frozen=True)
class CaseView:
    title: str
    targets: tuple[Tile, ...]
    lines: tuple[Line, ...]
    agreement: tuple[tuple[str, str, str, str, str], ...]
    strips: tuple[Strip, ...]
    lanes: tuple[Lane, ...]


def views_of(robustness: Robustness, embed: Embed) -> list[CaseView]:
    """The cases, one after the other."""
    limit = axis_limit([rerun for case in robustness.cases for rerun in case.reruns])

    def tile(part: str, index: int, role: str) -> Tile:
        uri = embed(part, index)
        slot = Slot(role, part, (index,), robustness.classes.get((part, index), ""))
        return Tile(slot, [] if uri is None else [uri])

    return [_view(case, limit, tile) for case in robustness.cases]


def _view(case: Case, limit: float, tile: TileOf) -> CaseView:
    targets = tuple(tile("target", t, "target") for t in case.targets)
    pairs = [("original", case.i, case.j)]
    pairs += [("neighbour", a.index, b.index) for a, b in zip(case.near_i, case.near_j, strict=True)]
    found = {(rerun.role, rerun.i, rerun.j, rerun.of): rerun for rerun in case.reruns if rerun.role != "target"}
    lines = [
        Line(
            (tile("train", i, "image i"), tile("train", j, "image j")),
            "",
            tuple(_cell(found.get((role, i, j, t))) for t in case.targets),
        )
        for role, i, j in pairs
    ]
    lines += [Line((), f"median of {NAMES[role]}", _medians(case, role)) for role in ROLES[1:]]
    return CaseView(
        title=f"Finding {case.number}" if case.number else "The pair that was asked for",
        targets=targets,
        lines=tuple(lines),
        agreement=tuple(_agreed(NAMES[role], case.agreement[role]) for role in ROLES[1:]),
        strips=tuple(_strip(side, own, near, tile) for side, own, near in _sides(case)),
        lanes=tuple(_lane(case, t, shown, limit) for t, shown in zip(case.targets, targets, strict=True)),
    )


def _sides(case: Case) -> list[tuple[str, int, tuple[Alike, ...]]]:
    return [("i", case.i, case.near_i), ("j", case.j, case.near_j)]


def _cell(rerun: Rerun | None) -> Cell:
    return Cell("", "") if rerun is None else Cell(pvalue(rerun.pvalue), _effect(rerun.effect))


def _effect(effect: float) -> str:
    return "not estimated" if math.isnan(effect) else f"Δ {fixed(effect, 3)}"


def _medians(case: Case, role: str) -> tuple[Cell, ...]:
    cells = []
    for t in case.targets:
        some = [rerun for rerun in case.reruns if rerun.role == role and rerun.of == t]
        effects = [rerun.effect for rerun in some if not math.isnan(rerun.effect)]
        p = pvalue(median(rerun.pvalue for rerun in some)) if some else ""
        cells.append(Cell(p, _effect(median(effects)) if effects else ""))
    return tuple(cells)


def _agreed(name: str, agreement: Agreement) -> tuple[str, str, str, str, str]:
    sign = "–" if math.isnan(agreement.same_sign) else f"{100 * agreement.same_sign:.0f} %"
    effects, pvalues = (
        "–" if math.isnan(value) else fixed(value, 2) for value in (agreement.effects, agreement.pvalues)
    )
    return name, str(agreement.n), sign, effects, pvalues


def _strip(side: str, own: int, near: Sequence[Alike], tile: TileOf) -> Strip:
    shown = tuple((tile("train", a.index, f"look-alike of {side}"), number(a.distance), a.near_copy) for a in near)
    return Strip(f"Look-alikes of image {side}", tile("train", own, f"image {side}"), shown)


def axis_limit(reruns: Sequence[Rerun]) -> float:
    """The end of an axis around zero on which all intervals have their place."""
    ends = [abs(v) for rerun in reruns for v in (rerun.effect_low, rerun.effect_high) if math.isfinite(v)]
    largest = max(ends, default=1.0) or 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    return next((step * power for step in STEPS if step * power >= largest), 10.0 * power)


def rows_of_lane(case: Case, target: int) -> list[tuple[str, list[Rerun]]]:
    """What is drawn of one target, from top to bottom: by role, the larger effects first."""
    known = [rerun for rerun in case.reruns if rerun.of == target and not math.isnan(rerun.effect)]
    return [(role, sorted((r for r in known if r.role == role), key=lambda r: -r.effect)) for role in ROLES]


def _lane(case: Case, target: int, tile: Tile, limit: float) -> Lane:
    def x(value: float) -> float:
        share = (min(max(value / limit, -1.0), 1.0) + 1.0) / 2.0
        return LEFT + (RIGHT - LEFT) * share

    marks, y = [], GAP
    for role, some in rows_of_lane(case, target):
        step = min(STEP, TALLEST / max(1, len(some)))
        intervals, dots = [], []
        for rerun in some:
            intervals.append(f"M{at(x(rerun.effect_low))} {at(y)}H{at(x(rerun.effect_high))}")
            dots.append(f"M{at(x(rerun.effect))} {at(y)}h0")
            y += step
        marks.append(Marks(role, "".join(intervals), "".join(dots)))
        y += GAP if some else 0.0
    ticks = [Tick(x(value), text) for value, text in ticks_of(-limit, limit, 5)]
    counts = ", ".join(f"{len(some)} of {NAMES[role]}" for role, some in rows_of_lane(case, target) if some)
    label = f"effects with 95 % intervals on {tile.slot.place}: {counts}"
    return Lane(tile, tuple(marks), y, ticks, x(0.0), label)
