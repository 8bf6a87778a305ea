"""What `datamodels-inf verify --fresh N` prints: how far fresh models agree with all findings, and with others."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pipeline.commands.aligned import aligned
from pipeline.fresh_summaries import FreshAgreementSummary
from pipeline.store.cache import Result
from pipeline.summaries import read_summary
from pipeline.text.replications import COLUMNS, MEANING, cells

WIDTH = 110


def agreement_lines(result: Result) -> Iterator[str]:
    """A table of the findings, one of the other tests, of each method and the atlas; then what the columns mean."""
    summary = read_summary(result, FreshAgreementSummary)
    yield f"Held against {summary.n_models:,} fresh models, on masks that no fit and no test has seen"
    for title, kind in (("Findings", "findings"), ("As many other tests", "others")):
        lines = [[title, *COLUMNS]]
        missing = []
        for name, family in summary.families.items():
            found = getattr(family, kind)
            if found is None:
                missing.append(name)
            else:
                lines.append([name, *cells(found)])
        yield ""
        if len(lines) > 1:
            yield from aligned(lines, right=True)
        if missing:
            yield f"{title}: none of {', '.join(missing)}."
    yield ""
    yield from textwrap.wrap(MEANING, WIDTH)
    yield from textwrap.wrap(sampled(summary), WIDTH)


def sampled(summary: FreshAgreementSummary) -> str:
    """Families of which not all findings were compared, in words; empty where there is none."""
    partly = [
        f"{name}: {0 if family.findings is None else family.findings.n:,} of {family.n_found:,} findings are compared"
        for name, family in summary.families.items()
        if family.n_found > (0 if family.findings is None else family.findings.n)
    ]
    return "" if not partly else f"{'; '.join(partly)}."
