"""CSV and JSON beside the referee's page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from datamodels_inf.refereeing.verdicts import VERDICTS
from pipeline.report.referee.content import Claim, RefereeContent, claim_of
from pipeline.text.csv_text import Cell, write_csv
from pipeline.text.json_file import without_nan
from pipeline.text.referee_words import headline

FORMAT = "datamodels-inf referee 1"
CLAIM_COLUMNS = (*(field.name for field in fields(Claim)), "label_target", "label_better", "label_worse")
METHOD_COLUMNS = (
    "method", "claims", *VERDICTS, "not_claimed", "lds", "lds_low", "lds_high", "r2", "r2_low", "r2_high",
    "fit_correlation", "negated", "source",
)  # fmt: skip
CONTRADICTION_COLUMNS = ("right", "wrong", "disagreement", *CLAIM_COLUMNS[1:])


def claim_lines(content: RefereeContent) -> Iterator[tuple[Cell, ...]]:
    """All claims, method by method."""
    for m in range(len(content.summary.methods)):
        for pair in np.flatnonzero(content.pairs[f"claim_{m}"]).tolist():
            yield _line(content, claim_of(content, pair, m))


def contradiction_lines(content: RefereeContent) -> Iterator[tuple[Cell, ...]]:
    """Confirmed claims of one method that another orders the other way round, the strongest disagreement first."""
    methods, found = content.summary.methods, content.contradictions
    for k, pair in enumerate(found["pair"].tolist()):
        right, wrong = int(found["right"][k]), int(found["wrong"][k])
        line = _line(content, claim_of(content, pair, right))
        yield methods[right].name, methods[wrong].name, float(found["disagreement"][k]), *line[1:]


def method_lines(content: RefereeContent) -> Iterator[tuple[Cell, ...]]:
    """One a method."""
    for one in content.summary.methods:
        figures = (one.lds.value, one.lds.low, one.lds.high, one.r2.value, one.r2.low, one.r2.high)
        counts = (one.verdicts[name] for name in VERDICTS)
        yield (
            one.name, one.n_claims, *counts, one.n_silent, *figures, one.fit_correlation, one.negated, one.source
        )  # fmt: skip


def write_tables(folder: Path, content: RefereeContent) -> None:
    """methods.csv, claims.csv, contradictions.csv, referee.json."""
    write_csv(folder / "methods.csv", METHOD_COLUMNS, method_lines(content))
    write_csv(folder / "claims.csv", CLAIM_COLUMNS, claim_lines(content))
    write_csv(folder / "contradictions.csv", CONTRADICTION_COLUMNS, contradiction_lines(content))
    text = json.dumps(without_nan(_json(content)), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / "referee.json").write_text(text, encoding="utf-8", newline="\n")


def _json(content: RefereeContent) -> dict[str, Any]:
    """The page for a program; all claims are in claims.csv."""
    summary = content.summary
    return {
        "format": FORMAT,
        "title": content.title,
        "headline": headline(summary),
        "scores_have_seen_tested_models": "not known"
        if content.may_leak
        else "no, says the user"
        if content.unseen
        else "no",
        "leak": content.leak,
        "warnings": summary.warnings,
        **summary.as_json(),
        "provenance": dict(content.provenance),
    }


def _line(content: RefereeContent, claim: Claim) -> tuple[Cell, ...]:
    labels = (
        content.label("target", claim.target), content.label("train", claim.better), content.label("train", claim.worse)
    )  # fmt: skip
    return (*(getattr(claim, field.name) for field in fields(Claim)), *labels)
