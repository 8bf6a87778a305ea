"""The tests of a run, corrected method by method; each has its own family and its own interval."""

import json

import numpy as np
import pyarrow as pa
import pytest
from command_here import ok
from pyarrow import parquet
from real_command import SMALL
from scipy.stats import t

from pipeline.config_files import load_config
from pipeline.report.rows import rows_of
from pipeline.stages import Run
from pipeline.stages.report.decided import read_decided
from pipeline.store.cache import Result
from pipeline.summaries import TestSummary, read_summary

BOTH = ("--set", 'test.method=["swap", "contrast"]', "--set", "report.max_panels=4")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    ok(folder, "test", *SMALL, *BOTH)
    (stage,) = (folder / "data" / "test").iterdir()
    for path in folder.glob("data/test/*/manifest.json"):
        (folder / "manifest.json").write_text(path.read_text())
    assert stage.is_dir()
    return folder


@pytest.fixture
def decided(run):
    def decide(folder, config):
        test = Result(folder, json.loads((run / "manifest.json").read_text()))
        stage = Run(config, {"test": test}, folder, folder, folder, 1, True, print, bool, True, "")
        found = read_decided(stage, read_summary(test, TestSummary))
        assert list(found.counts) == ["swap", "contrast"]
        assert found.counts["swap"][config.test.correction] == found.groups[0].n_found
        assert not found.growth
        return found.groups

    return decide


def test_a_pair_that_was_not_tested_was_tested_on_no_model(run, decided, tmp_path):
    [stage] = (run / "data" / "test").iterdir()
    found = parquet.read_table(stage / "tests.parquet")
    p = found["pvalue"].to_numpy().copy()
    p[3] = np.nan
    place = found.column_names.index("pvalue")
    parquet.write_table(found.set_column(place, "pvalue", pa.array(p, pa.float64())), tmp_path / "tests.parquet")
    swap, _ = decided(tmp_path, load_config("digits", ['test.method=["swap", "contrast"]']))
    assert swap.added["n_rows"][2:5].tolist() == [4000, 0, 4000]


@pytest.mark.parametrize(("correction", "left_out"), [
    ("by", lambda m, found: 0.2 * found / (m * sum(1 / k for k in range(1, m + 1)))),
    ("closed-by", lambda m, found: 0.2 * found / (m * sum(1 / k for k in range(1, m + 1)))),
    ("bh", lambda m, found: min(0.05, 0.2 * found / m)),
    ("holm", lambda m, found: 0.2 / m),
    ("bonferroni", lambda m, found: 0.2 / m),
])  # fmt: skip
def test_findings_get_the_interval_that_makes_up_for_the_selection(run, decided, tmp_path, correction, left_out):
    """Each method is a family of its own, and tests that were not made are not counted."""
    [stage] = (run / "data" / "test").iterdir()
    table = parquet.read_table(stage / "tests.parquet")
    p = table["pvalue"].to_numpy().copy()
    place = table.column_names.index("pvalue")
    p[:7] = np.nan
    parquet.write_table(table.set_column(place, "pvalue", pa.array(p, pa.float64())), tmp_path / "tests.parquet")
    config = load_config("digits", ['test.method=["swap", "contrast"]', f"test.correction={correction}"])
    for group, unmade in zip(decided(tmp_path, config), (7, 0), strict=True):
        tests = rows_of(group.table(np.arange(len(group))))
        found = [row for row in tests if row.finding]
        assert {row.method for row in tests} == {group.method}
        share = left_out(len(tests) - unmade, len(found))
        assert 0 < len(found) < len(tests)
        for row in found:
            half = t.isf(share / 2, row.effect_df) * row.effect_se
            ends = row.effect_low_selected, row.effect_high_selected
            assert ends == pytest.approx((row.effect - half, row.effect + half), rel=1e-7)
        assert all(np.isnan([r.effect_low_selected, r.effect_high_selected]).all() for r in tests if not r.finding)
