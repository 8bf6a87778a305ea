"""The report stage: what it is, and the order of its work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from datamodels_inf.kernels import ahead
from pipeline.config import Config
from pipeline.progress import progress_bar
from pipeline.stages.base import Run, Stage
from pipeline.summaries import ReportSummary, TestSummary, read_summary

VERSION = 17
PRINTED = ("train", "verify")
"""Sections that enter no key by themselves, but stand in the configuration at the end of the page: how the set was
made, and what was held against fresh models."""


def left_out(config: Config) -> dict[str, str]:
    """Nothing: the page prints the whole configuration, but for `content.NOT_SHOWN`."""
    return {}


def instead(config: Config) -> dict[str, Any]:
    """What else is printed: a page must not show settings of an earlier run."""
    dumped = config.model_dump(mode="json")
    return {f"printed {section}.{name}": value for section in PRINTED for name, value in dumped[section].items()}


def run(run: Run) -> ReportSummary:
    """Write the page and its files."""
    from pipeline.report import write_report
    from pipeline.report.evidence.influences import MOST_TARGETS
    from pipeline.report.limits import panels_of_each
    from pipeline.report.work import Work
    from pipeline.stages.report.content import content_of
    from pipeline.stages.report.decided import read_decided
    from pipeline.stages.report.evidence import evidence

    test = read_summary(run.inputs["test"], TestSummary)
    methods, n_tests = run.config.test.method, len(run.config.test.method) * test.n_tests
    with progress_bar(100, "%", "report", run.quiet) as advance:
        work = Work(advance, tests=n_tests, lines=n_tests, panels=run.config.report.max_panels * len(methods))
        decided = read_decided(run, test, work)
        most = panels_of_each(decided.groups, run.config.report.max_panels)
        drawn = [item.row for group in decided.groups for item in group.drawn(most)]
        found = {group.method: group.n_found for group in decided.groups}
        pictures = sum(min(most, count) for count in found.values())
        influences = MOST_TARGETS if "influence" in run.inputs else 0
        lines = n_tests + sum(found.values())
        work.plan(lines=lines, curves=len(drawn), influences=influences, panels=pictures)
        write_report(run.out, content_of(run, decided, evidence(run, drawn, work)), work)
    unseen = {group.method: group.n_unseen for group in decided.groups if group.n_unseen}
    return ReportSummary(n_tests=n_tests, n_findings=found, n_unseen=unseen)


INPUTS = (
    "download", "fit", "test", "evidence", "prior", "atlas", "influence", "features", "robustness", "verify",
    "agreement",
)  # fmt: skip


def kernels(config: Config) -> Sequence[str]:
    """For the correction, and for the influences of single images."""
    return (*ahead.SUMS, *ahead.CLOSED_SETS, *ahead.ONE_TARGET)


STAGE = Stage("report", VERSION, INPUTS, ReportSummary, run, left_out, instead, published=True, kernels=kernels)
