"""Robustness: a finding's pair tested again with look-alikes, the paper's Table 2 with images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeAlias

from pipeline.report.content.reruns import Agreement, Alike, Case, Rerun, Robustness
from pipeline.report.drawing.effect_lanes import Lane, axis_limit, lane_of
from pipeline.report.drawing.embedded_images import Tile, tile_of
from pipeline.report.drawing.slots import slot_of
from pipeline.report.output.robustness_picture import draw_robustness
from pipeline.report.page import Page
from pipeline.report.sections.base import File, Section, Variables, titled
from pipeline.report.sentences import effect_of_rerun
from pipeline.text.csv_text import write_csv
from pipeline.text.nouns import worded
from pipeline.text.numbers import fixed, number, pvalue
from pipeline.text.rerun_roles import COMPARED, ROLES

METRICS = {
    "pixels": "pixels (Euclidean distance, standardised by channel)",
    "features": "features (1 − cosine in the layer before the last of a network, or of the user's own embeddings)",
    "influence": "influence (1 − cosine of the weights on targets that are not tested)",
}
TileOf: TypeAlias = Callable[[str, int, str], Tile]
"""(part, index, role) → the image with its name."""


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
class Strip:
    """The look-alikes of one image."""

    title: str
    own: Tile
    near: tuple[tuple[Tile, str, bool], ...]


@dataclass(frozen=True)
class CaseView:
    """One case on the page."""

    title: str
    targets: tuple[Tile, ...]
    lines: tuple[Line, ...]
    agreement: tuple[tuple[str, str, str, str, str], ...]
    strips: tuple[Strip, ...]
    lanes: tuple[Lane, ...]


def data(page: Page) -> Variables | None:
    """The cases, if there were re-runs."""
    robustness = page.content.robustness
    if robustness is None:
        return None
    return {
        "robustness": robustness,
        "cases": views_of(robustness, page),
        "metric": METRICS[robustness.metric],
        "roles": list(ROLES.values()),
    }


def files(page: Page) -> Sequence[File]:
    """Not in the list at the end of the page: the section itself points at them."""
    robustness = page.content.robustness
    assert robustness is not None  # Else the section is not shown.
    return [
        File("reruns.csv", partial(write_reruns, robustness=robustness), listed=False),
        File("robustness.png", partial(draw_robustness, robustness=robustness, content=page.content), listed=False),
    ]


def write_reruns(path: Path, robustness: Robustness) -> None:
    """The re-runs as CSV, one line each; `pair` counts the cases from 1."""
    names = [field.name for field in fields(Rerun)]
    lines = (
        (k, case.number or None, *(getattr(rerun, name) for name in names))
        for k, case in enumerate(robustness.cases, start=1)
        for rerun in case.reruns
    )
    write_csv(path, ("pair", "finding", *names), lines)


def views_of(robustness: Robustness, page: Page) -> list[CaseView]:
    """The cases, one after the other."""
    limit = axis_limit([rerun for case in robustness.cases for rerun in case.reruns])

    def tile(part: str, index: int, role: str) -> Tile:
        label = robustness.classes.get((part, index), "")
        return tile_of(slot_of(page.content, role, part, (index,), label), page.pictures)

    return [_view(case, limit, tile, page.content.noun) for case in robustness.cases]


def _view(case: Case, limit: float, tile: TileOf, noun: str) -> CaseView:
    targets = tuple(tile("target", t, "target") for t in case.targets)
    return CaseView(
        title=case.title,
        targets=targets,
        lines=(*_pair_lines(case, tile, noun), *_median_lines(case, noun)),
        agreement=tuple(_agreed(worded(role.title, noun), case.agreement[role.name]) for role in COMPARED),
        strips=(_strip(f"{noun} i", case.i, case.near_i, tile), _strip(f"{noun} j", case.j, case.near_j, tile)),
        lanes=tuple(lane_of(case, t, shown, limit) for t, shown in zip(case.targets, targets, strict=True)),
    )


def _pair_lines(case: Case, tile: TileOf, noun: str) -> list[Line]:
    lines = []
    for role, i, j in case.pairs:
        images = (tile("train", i, f"{noun} i"), tile("train", j, f"{noun} j"))
        lines.append(Line(images, "", tuple(_cell(case.of_pair(role, i, j, t)) for t in case.targets)))
    return lines


def _median_lines(case: Case, noun: str) -> list[Line]:
    return [Line((), f"median of {worded(role.title, noun)}", _medians(case, role.name)) for role in COMPARED]


def _cell(rerun: Rerun | None) -> Cell:
    return Cell("", "") if rerun is None else Cell(pvalue(rerun.pvalue), effect_of_rerun(rerun.effect))


def _medians(case: Case, role: str) -> tuple[Cell, ...]:
    cells = []
    for t in case.targets:
        some = case.again(role, t)
        effects = [rerun.effect for rerun in some if not math.isnan(rerun.effect)]
        p = pvalue(median(rerun.pvalue for rerun in some)) if some else ""
        cells.append(Cell(p, effect_of_rerun(median(effects)) if effects else ""))
    return tuple(cells)


def _agreed(name: str, agreement: Agreement) -> tuple[str, str, str, str, str]:
    sign = "–" if math.isnan(agreement.same_sign) else f"{100 * agreement.same_sign:.0f} %"
    effects, pvalues = (
        "–" if math.isnan(value) else fixed(value, 2) for value in (agreement.effects, agreement.pvalues)
    )
    return name, str(agreement.n), sign, effects, pvalues


def _strip(side: str, own: int, near: Sequence[Alike], tile: TileOf) -> Strip:
    shown = tuple((tile("train", a.index, f"look-alike of {side[-1]}"), number(a.distance), a.near_copy) for a in near)
    return Strip(f"Look-alikes of {side}", tile("train", own, side), shown)


SECTION = Section("robustness", data, files, title=titled("Do look-alikes agree?"))
