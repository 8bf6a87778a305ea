"""The referee's page as one HTML file, with its tables beside it."""

from __future__ import annotations

from pathlib import Path

from jinja2 import PackageLoader

from pipeline.report.compiled_templates import environment_of
from pipeline.report.drawing.embedded_images import Pictures
from pipeline.report.html import FILTERS
from pipeline.report.referee.cards import cards_of
from pipeline.report.referee.content import RefereeContent
from pipeline.report.referee.stacked_bars import stacked_bars
from pipeline.report.referee.tables import write_tables
from pipeline.text.given_names import printable
from pipeline.text.numbers import thousands
from pipeline.text.referee_words import direction, headline, promise

FILES = (
    ("methods.csv", "the table"),
    ("claims.csv", "every claim with its effect, p-value and verdict"),
    ("contradictions.csv", "confirmed claims that another method has the other way round"),
    ("referee.json", "this page for programs"),
)


def write_referee(folder: Path, content: RefereeContent) -> None:
    """index.html and its tables; the page comes last: where it stands, all is complete."""
    write_tables(folder, content)
    (folder / "index.html").write_text(printable(page_html(content)), encoding="utf-8", newline="\n")


def page_html(content: RefereeContent) -> str:
    """The same content gives the same bytes."""
    environment = environment_of(PackageLoader("pipeline.report", "templates"))
    environment.filters.update(FILTERS)
    summary, pictures = content.summary, Pictures(content.images)
    return environment.get_template("referee.html.j2").render(
        content=content,
        summary=summary,
        headline=headline(summary, thousands),
        promise=f"{promise(summary)} {direction(summary)}",
        figure=stacked_bars(summary.methods),
        cards=cards_of(content, pictures),
        pictures=pictures,
        files=FILES,
        noun=content.noun,
        better="raises" if summary.higher_is_better else "lowers",
    )
