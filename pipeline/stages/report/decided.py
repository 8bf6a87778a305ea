"""The tests of the test stage, corrected for many: method by method, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datamodels_inf.internal.checks import Floats
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.config import Config
from pipeline.findings import Family, counts_by_correction
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
    """All methods, one after the other."""
    config, folder = run.config, run.inputs["test"].folder
    groups, counts, expectations = [], {}, {}
    for method in config.test.method:
        columns = MethodTests.of(folder, method, test.methods, test.n_tests)
        share = len(columns) / 1e6
        pvalue = columns.column("pvalue")
        if "prior" in run.inputs:
            expectations[method] = _expectation(run.inputs["prior"], method, pvalue)
        known = expectations.get(method)
        family = family_of(config, pvalue, known)
        groups.append(
            group_of(method, columns, family, test.n_rows[method], lambda part, n=share: progress("tests", 0.6 * n * part))
        )
        counts[method] = counts_by_correction(pvalue, config.test, None if known is None else known.prior)
        progress("tests", 0.4 * share)
    growth = _growth(config, folder / "growth.parquet", test, expectations)
    return Decided(tuple(groups), counts, expectations, growth)


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
