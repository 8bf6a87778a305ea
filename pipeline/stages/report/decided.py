"""The tests of the test stage, corrected for many: method by method, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from datamodels_inf.findings import Family, counts_by_correction
from datamodels_inf.internal.checks import Floats
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.config import Config
from pipeline.report.content import Expectation, Growth
from pipeline.report.content.expectations import realised_counts
from pipeline.report.groups import Group, group_of
from pipeline.report.work import Progress, silent
from pipeline.stages.base import Run
from pipeline.stages.prior.files import read_forecast, read_prior
from pipeline.stages.test.tests_file import MethodTests
from pipeline.store.cache import Result
from pipeline.summaries import PriorSummary, TestSummary, read_summary


@dataclass(frozen=True)
class Decided:
    """groups: the tests of each method. counts: by method, the findings of each correction.

    expectations: by method, what the fit rows expected, where that is known. growth: by method, the findings that the
    models up to each block would have had; empty where they are one block.
    """

    groups: tuple[Group, ...]
    counts: Mapping[str, Mapping[str, int | None]]
    expectations: Mapping[str, Expectation]
    growth: Mapping[str, Growth]


def read_decided(run: Run, test: TestSummary, progress: Progress = silent) -> Decided:
    """All methods, with what other corrections and fewer models would have found."""
    config = run.config
    decided = read_groups(run, test, config.test.method, progress)
    counts = {}
    for group in decided.groups:
        known = decided.expectations.get(group.method)
        prior = None if known is None else known.prior
        counts[group.method] = counts_by_correction(group.pvalue, config.test, prior)
        progress("tests", 0.4 * len(group) / 1e6)
    growth = _growth(config, run.inputs["test"].folder / "growth.parquet", test, decided.expectations)
    return replace(decided, counts=counts, growth=growth)


def read_groups(run: Run, test: TestSummary, methods: Sequence[str], progress: Progress = silent) -> Decided:
    """Some methods, one after the other: nothing but their tests, corrected as the configuration says."""
    groups, expectations = [], {}
    for method in methods:
        columns = MethodTests.of(run.inputs["test"].folder, method, test.methods, test.n_tests)
        pvalue = columns.column("pvalue")
        if "prior" in run.inputs:
            expectations[method] = _expectation(run.inputs["prior"], method, pvalue)
        family = family_of(run.config, pvalue, expectations.get(method))
        step = partial(_part, progress, 0.6 * len(columns) / 1e6)
        groups.append(group_of(method, columns, family, test.n_rows[method], step))
    return Decided(tuple(groups), {}, expectations, {})


def _part(progress: Progress, millions: float, share: float) -> None:
    progress("tests", millions * share)


def family_of(config: Config, pvalue: Floats, expectation: Expectation | None) -> Family:
    """The tests of one method."""
    weighted = CORRECTIONS[config.test.correction].needs_prior
    return Family(pvalue, config.test, expectation.prior if weighted and expectation is not None else None)


def _expectation(result: Result, method: str, pvalue: Floats) -> Expectation:
    """What the fit rows expected of the tests of a method, whose p-values tell what came."""
    said, prior = read_summary(result, PriorSummary).methods[method], read_prior(result, method)
    u, predicted = read_forecast(result, method)
    return Expectation(
        prior=prior,
        expected=said.expected,
        interval=said.interval,
        expected_by=said.expected_by,
        reason=said.reason,
        u=u,
        predicted=predicted,
        realised=realised_counts(pvalue, prior.weight, u),
    )


def _growth(
    config: Config, path: Path, test: TestSummary, expectations: Mapping[str, Expectation]
) -> dict[str, Growth]:
    if not path.is_file():
        return {}
    models = tuple(np.cumsum(test.block_rows).tolist())
    growth = {}
    for method, after in _after_blocks(path, len(test.block_rows), test.n_tests):
        families = (family_of(config, p, expectations.get(method)) for p in after)
        growth[method] = Growth(models, tuple(family.n_found for family in families))
    return growth


def _after_blocks(path: Path, n_blocks: int, n_tests: int) -> Sequence[tuple[str, Sequence[Floats]]]:
    """Of each method in the file, its p-values after each block."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    n_methods = file.metadata.num_rows // n_tests if n_tests else 0
    found = []
    for place in range(n_methods):
        own = MethodTests(path, place * n_tests, (place + 1) * n_tests)
        method = next(iter(own.batches(["method"])))["method"][0].as_py()
        found.append((method, [own.column(f"after_{k + 1}") for k in range(n_blocks)]))
    return found
