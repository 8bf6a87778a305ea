"""What `datamodels-inf verify` asks for and prints: each claim beside fresh models, and how many agree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.commands.aligned import aligned, named
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.store.cache import Result
from pipeline.summaries import VerifySummary, read_summary
from pipeline.text.csv_text import csv_line
from pipeline.training.trained_set import TrainedSet
from pipeline.verified import COLUMNS, Tally, Verified, csv_values, read_verified

CHOICES = ("top", "findings", "pair")
OF_CLAIMS = ("models", "method")
QUESTION = (*CHOICES, "target", "models", "method", "fresh", "seed")
HEADER = (
    "no.", "i (class)", "j (class)", "target (class)", "Δ̂", "95 % interval", "as a finding", "fresh Δ", "95 % interval",
    "z", "verdict",
)  # fmt: skip
EXPLANATION = (
    "fresh Δ: mean difference of couples of new models, one with i and without j, the other the reverse. confirmed, "
    "reversed: its interval excludes 0, with the sign of Δ̂ or the other one; open: it does not."
)


def asked_settings(config_name: str, overrides: Sequence[str], asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The overrides of a question: what it names takes the place of the claims that the configuration names.

    A source that no more models can be trained like is refused here, before anything is downloaded or fitted.
    """
    config = load_config(config_name, overrides)
    TrainedSet.of(config, "verify")
    given = {name: value for name, value in asked.items() if value not in (None, ())}
    choices = [name for name in CHOICES if name in given]
    if len(choices) > 1:
        raise BadInputError("only one of --finding, --pair and --top can be given.")
    if ("pair" in given) != ("target" in given):
        raise BadInputError("--pair and --target belong together: --pair I J --target T.")
    if "fresh" in given and not choices and (other := next((name for name in OF_CLAIMS if name in given), None)):
        raise BadInputError(f"--{other} is for single claims; with --fresh, name them: --finding, --pair or --top.")
    if "pair" in given:
        given["pair"] = [int(image) if image.isdecimal() else image for image in given["pair"]]
    if not choices and not config.verify.wanted and "fresh" not in given:
        given["top"] = 1
    unset = [f"verify.{name}=" for name in (*CHOICES, "target")] if choices or "fresh" in given else []
    own = [f"verify.{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items()]
    return (*overrides, *unset, *own)


def verify_lines(result: Result, as_csv: bool) -> Iterator[str]:
    """A table with a last line of counts, or CSV."""
    rows, summary = read_verified(result.folder), read_summary(result, VerifySummary)
    if as_csv:
        yield csv_line(COLUMNS)
        yield from (csv_line(csv_values(row)) for row in rows)
    elif not rows:
        yield f"There is no finding by {summary.method}, so nothing was trained again."
    else:
        yield _what(summary)
        yield from aligned([list(HEADER), *map(_cells, rows)])
        yield Tally.of(rows).sentence
        yield EXPLANATION


def _what(summary: VerifySummary) -> str:
    whose = "The pair" if summary.method is None else f"Findings by {summary.method}"
    return f"{whose}, against {summary.n_models:,} fresh models: {summary.n_couples:,} couples for each pair of images"


def _cells(row: Verified) -> list[str]:
    return [
        str(row.finding or "–"),
        _images(row.members_i, row.class_i),
        _images(row.members_j, row.class_j),
        named(row.target, row.class_target),
        f"{row.effect:.3g}",
        _interval(row.effect_low, row.effect_high),
        _interval(row.effect_low_selected, row.effect_high_selected),
        f"{row.fresh_effect:.3g}",
        _interval(row.fresh_low, row.fresh_high),
        f"{row.z:.2f}",
        row.verdict,
    ]


def _images(members: tuple[int, ...], name: str) -> str:
    """ "12 (dog)"; of a group its numbers and the class of the first."""
    return named(members[0], name) if len(members) == 1 else f"{' '.join(map(str, members))} ({name or 'group'}, …)"


def _interval(low: float, high: float) -> str:
    return "–" if low != low or high != high else f"{low:.3g} to {high:.3g}"
