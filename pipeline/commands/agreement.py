"""What `datamodels-inf verify --fresh N` prints: how far fresh models agree with all findings, and with others."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pipeline.commands.aligned import aligned
from pipeline.store.cache import Result
from pipeline.summaries import FreshAgreementSummary, read_summary
from pipeline.text.numbers import unbroken
from pipeline.text.replications import MEANING, table

WIDTH = 110


def agreement_lines(result: Result) -> Iterator[str]:
    """A table of the findings, one of the other tests, of each method and the atlas; then what the columns mean."""
    summary = read_summary(result, FreshAgreementSummary)
    yield f"Held against {summary.n_models:,} fresh models, on masks that no fit and no test has seen"
    for title, kind in (("Findings", "findings"), ("As many other tests", "others")):
        found = {name: getattr(family, kind) for name, family in summary.families.items()}
        known = {name: one for name, one in found.items() if one is not None}
        columns, rows = table(known)
        yield ""
        if known:
            yield from aligned([[title, *columns], *([name, *texts] for name, texts in rows.items())], right=True)
        if missing := found.keys() - known.keys():
            yield f"{title}: none by {', '.join(name for name in found if name in missing)}."
    yield ""
    yield from _wrapped(MEANING)
    yield from _wrapped(summary.sampled)


def _wrapped(text: str) -> list[str]:
    lines = textwrap.wrap(unbroken(text), WIDTH, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
