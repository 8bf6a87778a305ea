"""Re-runs: every figure is the library's, look-alikes of one influence agree, and controls do not."""

import numpy as np
import pytest
from clustered_images import CLUSTER, N_FIT, N_TEST, datamodel, rows_of, run
from pyarrow import parquet
from scipy.stats import spearmanr

from datamodels_inf import SquaredResidual, adjust_pvalues, contrast, swap_test


@pytest.mark.parametrize("metric", ("pixels", "features", "influence"))
def test_look_alikes_of_one_influence_agree_and_controls_do_not(clusters, metric):
    n_targets = 8 if metric != "influence" else 4  # The other eight tell who has the same influence.
    result = run(clusters, "robustness.top=3", f"robustness.metric={metric}", f"robustness.n_targets={n_targets}")
    cases = result.summary["cases"]
    assert [case["finding"] for case in cases] == [1, 2, 3]
    for case in cases:
        for side in ("i", "j"):
            assert (CLUSTER[case["near"][side]["images"]] == CLUSTER[case[side]]).all()
        a = case["agreement"]
        assert a["neighbour"]["n"] == a["random"]["n"] == n_targets * 25
        assert a["neighbour"]["same_sign"] > 0.9
        if metric != "influence":  # Its four targets are too few and too equal to be put in order.
            assert a["neighbour"]["effects"] > 0.85
            assert a["neighbour"]["pvalues"] > 0.6
    random = [case["agreement"]["random"] for case in cases]
    assert np.mean([a["same_sign"] for a in random]) < 0.8
    assert np.mean([a["effects"] for a in random]) < 0.5


def test_look_alikes_of_different_influence_do_not_agree(clusters):
    """The control of the test above: alike to the eye alone, agreement is that of random images."""
    result = run(clusters, "robustness.top=3", "robustness.n_targets=8", name="unlike")
    found = [case["agreement"]["neighbour"] for case in result.summary["cases"]]
    assert np.mean([a["same_sign"] for a in found]) < 0.7
    assert np.mean([a["effects"] for a in found]) < 0.4


@pytest.mark.parametrize("method", ("contrast", "swap"))
def test_every_figure_is_that_of_the_library_and_the_family_is_corrected(clusters, method):
    result = run(clusters, "robustness.pair=[3,9]", "robustness.n_targets=3", "robustness.neighbours=2",
                 f"robustness.method={method}")  # fmt: skip
    rows = rows_of(result)
    x = np.load(clusters / "alike" / "data" / "train_masks_50pct.npy")[N_FIT:]
    y = np.load(clusters / "alike" / "data" / "test_margins_50pct.npy")[N_FIT:].astype(float)
    weight, bias, targets = datamodel(clusters)
    family = {}
    for row in rows:
        k = targets.index(row["target"])
        sample = x, y[:, row["target"]], row["i"], row["j"]
        effect = contrast(*sample, theta=weight[:, k], bias=bias[k])
        assert (row["effect"], row["effect_low"]) == pytest.approx((effect.estimate, effect.interval[0]), rel=1e-6)
        if method == "contrast":
            assert row["pvalue"] == pytest.approx(effect.pvalue, rel=1e-6)
        else:
            expected = swap_test(*sample, score=SquaredResidual(weight[:, k], bias[k]))
            assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-6)
        family[row["i"], row["j"], row["target"]] = row["pvalue"], row["adjusted"]
    pvalues, adjusted = np.array(list(family.values())).T
    np.testing.assert_allclose(adjusted, adjust_pvalues(pvalues, "by"))
    assert result.summary["n_tests"] == len(family)
    (case,) = result.summary["cases"]
    original = {row["of"]: row for row in rows if row["role"] == "original"}
    for role in ("neighbour", "random", "target"):
        some = [(original[row["of"]], row) for row in rows if row["role"] == role]
        figures = case["agreement"][role]
        assert figures["n"] == len(some)
        assert figures["same_sign"] == pytest.approx(np.mean([a["effect"] * b["effect"] > 0 for a, b in some]))
        for name, key in (("effects", "effect"), ("pvalues", "pvalue")):
            expected = spearmanr([a[key] for a, _ in some], [b[key] for _, b in some]).statistic
            assert figures[name] == pytest.approx(expected)


def test_a_split_finds_on_one_half_and_tests_on_the_other(clusters):
    """Which finding is first depends on the first half alone, its p-value on the second alone."""
    result = run(clusters, "robustness.top=1", "robustness.split=true", "robustness.n_targets=2")
    (case,) = result.summary["cases"]
    assert result.summary["n_held_out"] == N_TEST // 2
    x = np.load(clusters / "alike" / "data" / "train_masks_50pct.npy")
    y = np.load(clusters / "alike" / "data" / "test_margins_50pct.npy").astype(float)
    weight, bias, targets = datamodel(clusters)

    def by_half(i, j, target, rows):
        k = targets.index(target)
        return contrast(x[rows], y[rows, target], i, j, theta=weight[:, k], bias=bias[k])

    first, second = slice(N_FIT, N_FIT + N_TEST // 2), slice(N_FIT + N_TEST // 2, None)
    original = next(row for row in rows_of(result) if row["role"] == "original" and row["target"] == case["targets"][0])
    expected = by_half(original["i"], original["j"], original["target"], second)
    assert original["pvalue"] == pytest.approx(expected.pvalue, rel=1e-6)
    design = parquet.read_table(next((clusters / "alike" / "store" / "test").glob("*/design.parquet"))).to_pylist()
    found = [(by_half(d["i"], d["j"], d["target"], first).pvalue, d) for d in design]
    best = min(found, key=lambda entry: entry[0])[1]
    assert (case["i"], case["j"], case["targets"][0]) == (best["i"], best["j"], best["target"])


def test_nothing_found_means_nothing_to_make_again(clusters):
    result = run(clusters, "robustness.top=3", "test.alpha=1e-200", "robustness.method=contrast")
    assert result.summary["cases"] == []
    assert rows_of(result) == []
