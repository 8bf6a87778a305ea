"""The report's tables and counts of very many tests: memory grows by a few columns a test, never by an object."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from datamodels_inf.findings import Family
from pipeline.images.item_names import ItemNames
from pipeline.report.groups import group_of
from pipeline.report.output.tests_table import write_findings, write_tests
from pipeline.stages.test.tests_file import MethodTests

N, ROWS = 200_000, 2**16
METHODS = ("swap", "swap-exact", "paired", "contrast")
BYTES_A_TEST = 8 * 12
"""p, adjusted p, the two ends of the longer interval, weight, models, and what is in the air of one method."""


class Rule:
    alpha, correction = 0.2, "by"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("million")
    writer = None
    for start in [*range(0, N, ROWS)] * len(METHODS):
        rng, n = np.random.default_rng(start), min(ROWS, N - start)
        floats = ("statistic", "theta_i", "theta_j", "effect", "effect_low", "effect_high", "effect_se", "effect_df")
        i, j = rng.integers(0, 500, n), rng.integers(500, 1000, n)
        offsets = pa.array(np.arange(n + 1, dtype=np.int32))
        table = pa.table({
            "method": ["any"] * n, "i": i, "j": j, "target": rng.integers(0, 50, n),
            "pvalue": np.where(rng.random(n) < 0.02, 1e-12 * rng.random(n), rng.random(n)),
            **{name: rng.uniform(1, 2, n) for name in floats}, "n_informative": rng.integers(9, 99, n),
            **{name: np.array(["cat", "dog, or not"])[i % 2] for name in ("class_i", "class_j", "class_target")},
            "note": [""] * n, "members_i": pa.ListArray.from_arrays(offsets, pa.array(i)),
            "members_j": pa.ListArray.from_arrays(offsets, pa.array(j)),
        })  # fmt: skip
        writer = writer or parquet.ParquetWriter(folder / "tests.parquet", table.schema)
        writer.write_table(table)
    writer.close()
    return folder


def decided(folder):
    groups = []
    for method in METHODS:
        columns = MethodTests.of(folder, method, METHODS, N)
        groups.append(group_of(method, columns, Family(columns.column("pvalue"), Rule()), 4000))
    return groups


def written(folder, groups):
    steps = []
    write_tests(folder / "tests.csv", groups, ItemNames(), lambda part, done: steps.append(done))
    write_findings(folder / "findings.csv", groups, ItemNames(), lambda part, done: steps.append(done))
    return steps


def test_eight_hundred_thousand_tests_are_corrected_counted_and_written_in_little_memory(folder):
    decided(folder)  # What is imported is not counted.
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    groups = decided(folder)
    counts = [group.class_counts for group in groups]
    kept = [group.kept for group in groups]
    steps = written(folder, groups)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < BYTES_A_TEST * N * len(METHODS) + 60e6
    assert pool.bytes_allocated() - before < 60e6
    n_found = sum(group.n_found for group in groups)
    assert 0.015 * 4 * N < n_found < 0.025 * 4 * N
    assert sum(count for one in counts for count, _ in one.values()) == 4 * N
    assert sum(found for one in counts for _, found in one.values()) == n_found
    assert [len(some) for some in kept] == [2000] * 4
    assert sum(steps) == pytest.approx((4 * N + n_found) / 1e6)
    assert len(steps) > 4 * N / ROWS
    with (folder / "tests.csv").open() as file:
        assert sum(1 for _ in file) == 4 * N + 1
    with (folder / "findings.csv").open() as file:
        assert sum(1 for _ in file) == n_found + 1
