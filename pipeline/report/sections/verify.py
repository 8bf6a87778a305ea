"""Trained again: each claim beside couples of fresh models with its two images forced in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pipeline.report.content.trained_again import Estimate, TrainedAgain
from pipeline.report.drawing.bars import Bar, bar_of, common_limit
from pipeline.report.drawing.embedded_images import Tile, tile_of
from pipeline.report.drawing.slots import slots_of
from pipeline.report.page import Page
from pipeline.report.sections.base import File, Section, Variables, titled
from pipeline.report.sentences import effect_and_interval
from pipeline.text.csv_text import write_csv
from pipeline.text.numbers import fixed
from pipeline.verified import COLUMNS, Tally, Verified, csv_values

VERDICTS = {
    "confirmed": "Confirmed: the interval of the fresh models excludes zero, on the side of the estimate.",
    "reversed": "Reversed: the interval of the fresh models excludes zero, on the other side than the estimate.",
    "open": "Open: the interval of the fresh models contains zero.",
}


@dataclass(frozen=True)
class BarLine:
    """One estimate: whose it is, where it lies, and as text."""

    who: str
    bar: Bar
    words: str


@dataclass(frozen=True)
class CaseView:
    """One claim on the page."""

    title: str
    verdict: str
    words: str
    tiles: tuple[Tile, ...]
    lines: tuple[BarLine, ...]
    note: str

    @property
    def label(self) -> str:
        """What a reader who cannot see the drawing is told."""
        return "; ".join(f"{line.who} {line.words}" for line in self.lines)


def data(page: Page) -> Variables | None:
    """The cases, if any model was trained again."""
    again = page.content.trained_again
    if again is None:
        return None
    limit = common_limit([one for row in again.rows for one in (Estimate.claimed(row), Estimate.fresh(row))])
    cases = [_view(row, limit, page) for row in again.rows]
    return {"again": again, "cases": cases, "end": limit, "tally": Tally.of(again.rows).sentence}


def files(page: Page) -> Sequence[File]:
    """The rows in numbers; the section itself points at them."""
    again = page.content.trained_again
    assert again is not None  # Else the section is not shown.
    return [File("verify.csv", partial(write_rows, again=again), listed=False)]


def write_rows(path: Path, again: TrainedAgain) -> None:
    """One line for each claim, with the columns of `verify --csv`."""
    write_csv(path, COLUMNS, map(csv_values, again.rows))


def _view(row: Verified, limit: float, page: Page) -> CaseView:
    estimates = {"tested models": Estimate.claimed(row), "fresh models": Estimate.fresh(row)}
    drawn = [(who, bar_of(one, limit), effect_and_interval(one)) for who, one in estimates.items()]
    return CaseView(
        title=row.title,
        verdict=row.verdict,
        words=VERDICTS[row.verdict],
        tiles=tuple(tile_of(slot, page.pictures) for slot in slots_of(row, page.content)),
        lines=tuple(BarLine(who, bar, words) for who, bar, words in drawn if bar is not None),
        note=_note(row),
    )


def _note(row: Verified) -> str:
    """Where the fresh estimate lies, and how far it is from the claim."""
    inside = {"95 % interval": row.inside_marginal, "interval as a finding": row.inside_selected}
    known = [f"{'inside' if yes else 'outside'} the {name}" for name, yes in inside.items() if yes is not None]
    if row.compatible is None:
        return "The effect was not estimated from the tested models."
    return f"The fresh estimate lies {' and '.join(known)}; z = {fixed(row.z, 2)} between the two."


SECTION = Section("verify", data, files, style="verify.css", title=titled("Trained again"))
