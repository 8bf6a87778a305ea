"""What `datamodels-inf referee` asks for and prints: the table of methods, or all claims as CSV."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from datamodels_inf.refereeing.verdicts import VERDICTS
from pipeline.commands.aligned import aligned
from pipeline.config_files import literal, load_config
from pipeline.errors import BadInputError
from pipeline.store.cache import Result
from pipeline.summaries import Decided, RefereeSummary, read_summary
from pipeline.text.referee_words import direction, headline, leak_words, promise

WIDTH = 110
MOST_DECIDED = 5
QUESTION = ("scores", "k", "alpha", "correction", "seed", "unseen", "negate", "resamples")
HEADER = (
    "method",
    "claims",
    "confirmed",
    "unproven",
    "reversed",
    "not testable",
    "LDS (95 % interval)",
    "R² (95 % interval)",
)


def asked_settings(config_name: str, overrides: Sequence[str], asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The overrides of a question; without scores in it or in the configuration there is none."""
    given = {name: value for name, value in asked.items() if value is not None and value is not False and value != ()}
    own = [
        f"referee.{name}={literal(list(value) if isinstance(value, tuple) else value)}" for name, value in given.items()
    ]
    settings = (*overrides, *own)
    if not load_config(config_name, settings).referee.wanted:
        raise BadInputError(
            "name the scores to referee, such as --scores trak.npy --scores lasso; lasso is the configuration's own "
            "datamodel."
        )
    return settings


def referee_lines(result: Result, unseen: bool) -> Iterator[str]:
    """The headline, a row for each method, and what is to be known of it."""
    summary = read_summary(result, RefereeSummary)
    yield headline(summary)
    yield promise(summary)
    yield direction(summary)
    yield from (f"{method.name}: {note}." for method in summary.methods for note in method.notes)
    rows = [
        [one.name, f"{one.n_claims:,}", *(f"{one.verdicts[name]:,}" for name in VERDICTS), one.lds.text(),
         one.r2.text()]
        for one in summary.methods
    ]  # fmt: skip
    yield from aligned([list(HEADER), *rows], right=True)
    yield from decided_lines(summary.decided)
    for warning in (*(f"Warning: {text}." for text in summary.warnings), leak_words(summary, unseen)):
        yield from textwrap.wrap(warning, WIDTH, break_on_hyphens=False)


def decided_lines(decided: Sequence[Decided]) -> Iterator[str]:
    """Who is right where two disagree, of the pairs of methods between which most is decided."""
    known = [one for one in decided if one.n]
    for one in sorted(known, key=lambda one: -one.n)[:MOST_DECIDED]:
        yield (
            f"Where {one.first} and {one.second} disagree and the models decide, {one.first} is right on "
            f"{one.first_right:,} and {one.second} on {one.second_right:,}."
        )
    if len(known) > MOST_DECIDED:
        more = len(known) - MOST_DECIDED
        yield f"And so of {more} more {'pair' if more == 1 else 'pairs'} of methods: on the page, and in referee.json."


def csv_lines(page: Result) -> Iterator[str]:
    """claims.csv of the page."""
    yield from (page.folder / "claims.csv").read_text(encoding="utf-8").splitlines()
