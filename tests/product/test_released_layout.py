"""From a folder in the released layout to the report."""

import json

import numpy as np
import pytest
from command_here import ok
from real_command import SMALL, table
from released_layout import FILES, LOAD, released

from datamodels_inf import SquaredResidual, contrast, paired_swap_test
from pipeline.sources.embedded import FOLDER as EMBEDDED


def test_several_methods_stand_side_by_side_and_agree_with_the_library(tmp_path):
    ok(tmp_path, "run", *SMALL, "--set", "test.method=['swap','swap-exact','paired','contrast']")
    rows = table(tmp_path / "reports" / "digits" / "tests.csv")
    assert [r["method"] for r in rows] == [m for m in ("swap", "swap-exact", "paired", "contrast") for _ in range(100)]
    by_method = {m: [r for r in rows if r["method"] == m] for m in ("swap", "swap-exact", "paired", "contrast")}
    for name in ("i", "j", "target", "effect"):
        assert len({tuple(r[name] for r in part) for part in by_method.values()}) == 1
    with np.load(next((tmp_path / "data" / "fit").glob("*/datamodel.npz"))) as fitted:
        row = by_method["paired"][42]
        k = fitted["targets"].tolist().index(int(row["target"]))
        theta, bias = fitted["weight"][:, k], fitted["bias"][k]
    x = np.unpackbits(np.load(EMBEDDED / "masks.npy"), axis=1)[8000:, :400].astype(bool)
    y = np.load(EMBEDDED / "margins.npy")[8000:, int(row["target"])].astype(float)
    pair = int(row["i"]), int(row["j"])
    assert float(row["pvalue"]) == pytest.approx(
        paired_swap_test(x, y, *pair, score=SquaredResidual(theta, bias)).pvalue
    )
    assert float(by_method["contrast"][42]["pvalue"]) == pytest.approx(
        contrast(x, y, *pair, theta=theta, bias=bias).pvalue
    )


@pytest.mark.parametrize("coding", ("mask", "signed"))
def test_released_layout_with_loaded_weights(tmp_path, coding):
    weight = released(tmp_path / "cifar", coding=coding)
    ok(tmp_path, "run", *FILES, *LOAD, "--set", "fit.targets=all")
    with np.load(next((tmp_path / "data" / "fit").glob("*/datamodel.npz"))) as fitted:
        np.testing.assert_allclose(fitted["weight"], weight, atol=1e-6)
    (manifest,) = (tmp_path / "data" / "fit").glob("*/manifest.json")
    assert json.loads(manifest.read_text())["summary"]["coding"] == coding
    assert "Coding of the weights" in (tmp_path / "reports" / "digits" / "index.html").read_text()
    masks = np.load(next((tmp_path / "data" / "download").glob("*/masks.npy")))
    expected = np.load(tmp_path / "cifar" / "data" / "train_masks_50pct.npy")
    np.testing.assert_array_equal(np.unpackbits(masks, axis=1)[:, :24].astype(bool), expected)


def test_released_layout_with_lasso_and_fewer_rows(tmp_path):
    released(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES, "--set", "source.fit_rows=150", "--set", "source.held_out_rows=50")
    margins = np.load(next((tmp_path / "data" / "download").glob("*/margins.npy")))
    expected = np.load(tmp_path / "cifar" / "data" / "test_margins_50pct.npy")
    np.testing.assert_array_equal(margins, np.concatenate([expected[:150], expected[-50:]]))


def test_labels_without_images_give_a_report_with_grey_tiles(tmp_path):
    from pipeline.images.image_set import ImageSet

    released(tmp_path / "cifar")
    ImageSet.load(tmp_path / "cifar" / "images.npz").labels.save(tmp_path / "labels.npz")
    without = [word for word in FILES if not word.startswith("source.images")]
    del without[without.index("--set", 4)]
    ok(tmp_path, "run", *without, "--set", "source.labels=labels.npz")
    page = (tmp_path / "reports" / "digits" / "index.html").read_text()
    assert "source.images" in page
    assert table(tmp_path / "reports" / "digits" / "tests.csv")[0]["class_target"] == "dog"


def test_a_wide_open_family_without_findings_still_gives_a_report(tmp_path):
    released(tmp_path / "cifar")
    rng = np.random.default_rng(1)
    np.save(tmp_path / "cifar" / "data" / "test_margins_50pct.npy", rng.standard_normal((300, 8)).astype(np.float16))
    ok(tmp_path, "run", *FILES)
    assert table(tmp_path / "reports" / "digits" / "findings.csv") == []
    assert (tmp_path / "reports" / "digits" / "index.html").exists()
