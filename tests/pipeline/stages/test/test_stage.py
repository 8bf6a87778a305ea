"""The test stage agrees with the library, for groups, thresholds and sources without labels."""

import numpy as np
import pytest
from pyarrow import parquet
from tested_pairs import FOUR, METHODS, by_library, datamodel, held_out, rows_of

from datamodels_inf import SquaredResidual, contrast
from datamodels_inf.contrast import effect_interval
from pipeline.config_files import load_config
from pipeline.run import Pipeline


def test_a_list_with_groups_agrees_with_the_library(pipeline, source, tmp_path):
    """Sizes are mixed in one family; every number is that of the library on dense masks."""
    path = tmp_path / "pairs.csv"
    path.write_text("i,j,target\n1 2,3 4,5\n0,cat:3,1\n7,9,dog:0\n8,3,5\ndog:0 dog:4,11 12,5\n9,7,1\n6,0,1\n")
    run = pipeline("test.design=list", f"test.file={path}", FOUR)
    result = run.run("test")
    tests = rows_of(result)
    members = [(r["members_i"], r["members_j"], r["target"]) for r in tests[:5]]
    # By target, and (6, 0) is (0, 6), (9, 7) is (7, 9) again.
    assert members == [([0], [6], 1), ([7], [9], 1), ([1, 2], [3, 4], 5), ([8], [3], 5), ([1, 9], [11, 12], 5)]
    assert result.summary["design"]["n_repeated"] == 2
    assert [r["method"] for r in tests] == [m for m in METHODS for _ in range(5)]
    weight, bias, targets = datamodel(run)
    assert targets == [1, 5]
    x, margins = held_out(source)
    for row in tests:
        i, j, k = row["members_i"], row["members_j"], targets.index(row["target"])
        y, theta, score = margins[:, row["target"]], weight[:, k], SquaredResidual(weight[:, k], bias[k])
        assert (row["i"], row["j"]) == (i[0], j[0])
        effect = contrast(x, y, i, j, theta=theta, bias=bias[k])
        expected = effect if row["method"] == "contrast" else by_library(row["method"], x, y, i, j, score)
        assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
        assert (row["theta_i"], row["theta_j"]) == pytest.approx((theta[i].sum(), theta[j].sum()))
        assert (row["effect"], row["n_informative"]) == (pytest.approx(effect.estimate), effect.n_informative)
        assert (row["effect_low"], row["effect_high"]) == pytest.approx(effect.interval)
        again = effect_interval(*(np.array(row[name]) for name in ("effect", "effect_se", "effect_df")), 0.95)
        assert again == pytest.approx(effect.interval)
        assert row["class_i"] == ("cat", "dog")[i[0] % 2]
        assert row["class_target"] == "dog"


def test_tau_reaches_every_method(pipeline, source):
    """τ > 0 makes p-values larger, and the two p-values of one statistic are the library's."""
    settings = "test.design=grid", "test.images=[0,1,2,3]", "test.method=['swap','swap-exact','paired']"
    run = pipeline(*settings, "test.tau=0.05", "test.seed=3")
    tests = rows_of(run.run("test"))
    weight, bias, targets = datamodel(run)
    x, margins = held_out(source)
    for row in tests:
        k = targets.index(row["target"])
        score = SquaredResidual(weight[:, k], bias[k])
        y = margins[:, row["target"]]
        expected = by_library(row["method"], x, y, row["i"], row["j"], score, tau=0.05, rng=3)
        assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)


def test_without_labels_a_list_by_numbers_is_tested_and_reported(pipeline, source, tmp_path):
    (tmp_path / "pairs.csv").write_text("i,j,target\n1,2,3\n1 2,4 5,3\n")
    bare = [f"source.folder={source}", "source.kind=files", "source.fit_rows=200", "source.held_out_rows=100",
            "fit.n_lambdas=5", "test.design=list", f"test.file={tmp_path / 'pairs.csv'}"]  # fmt: skip
    run = Pipeline(load_config("digits", bare), tmp_path / "store", tmp_path / "reports", quiet=True)
    run.run("report")
    (path,) = (tmp_path / "store" / "test").glob("*/tests.parquet")
    assert {r["class_i"] + r["class_j"] + r["class_target"] for r in parquet.read_table(path).to_pylist()} == {""}
