"""What each correction for many tests would find, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datamodels_inf.multiplicity import CORRECTIONS, Correction
from pipeline.report.content import Content, Expectation
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled
from pipeline.report.sentences import chance_of_any


@dataclass(frozen=True)
class CorrectionLine:
    """One correction; found: how many findings it has, None where it needs a prior that is not known."""

    rule: Correction
    in_use: bool
    found: int | None
    promise: str
    note: str


def data(page: Page) -> Variables | None:
    """Each method whose counts are known, with a line for each correction."""
    counts = page.content.counts
    shown = [
        (method, lines_of(counts[method.name], page.content, method.name))
        for method in page.methods
        if method.name in counts and method.group.n_tests
    ]
    return {"of_methods": shown} if shown else None


def lines_of(counts: Mapping[str, int | None], content: Content, method: str) -> list[CorrectionLine]:
    """In the order of the table."""
    expectation = content.expectations.get(method)
    return [
        CorrectionLine(
            rule=rule,
            in_use=name == content.correction,
            found=counts[name],
            promise=promise_of(rule, content.alpha),
            note=prior_note(expectation) if rule.needs_prior else "",
        )
        for name, rule in CORRECTIONS.items()
        if name in counts
    ]


def promise_of(rule: Correction, alpha: float) -> str:
    """What is at most α, in words."""
    return f"a false discovery rate of at most {alpha:g}" if rule.controls == "FDR" else chance_of_any(alpha)


def prior_note(expectation: Expectation | None) -> str:
    """What the fit rows expected, or why that is not known."""
    if expectation is None:
        return "Not counted: no weights and no shape were made from the models of the fit."
    if expectation.expected is None:
        return f"As Benjamini–Yekutieli: {expectation.reason}."
    text = f"Expected from the models of the fit: {expectation.expected:,.0f}"
    if expectation.interval is not None:
        text += " (90 % interval {:,.0f} to {:,.0f})".format(*expectation.interval)
    by = expectation.expected_by
    return f"{text}." if by is None else f"{text}; with Benjamini–Yekutieli {by:,.0f}."


SECTION = Section("corrections", data, title=titled("What each correction finds"))
