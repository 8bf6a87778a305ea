"""Stage 4 on a real run: the page shows what the held-out models say, opens on demand, and groups are understood."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
from command_here import ok
from pyarrow import parquet
from real_command import COMMAND, SMALL, table
from report_content import Page, check_self_contained

from datamodels_inf import SquaredResidual, influence
from datamodels_inf.multiplicity import adjust_pvalues
from pipeline.config_files import load_config
from pipeline.stages.prior.files import read_prior
from pipeline.stages.report.stage import STAGE
from pipeline.store.cache import Result

PROGRESSIVE = (
    "--config",
    "digits-all",
    "--set",
    "test.blocks=3",
    "--set",
    "source.first_rows=8000",
    "--set",
    "report.name=digits-all",
)
BOTH = ("--set", 'test.method=["swap", "contrast"]', "--set", "report.max_panels=4")


def call(folder, *arguments, **environment):
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env={**os.environ, **environment},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    ok(folder, "report", *SMALL, *BOTH)
    return folder


@pytest.mark.parametrize("change", ("train.n_models=7", "verify.models=8", "report.title=Other"))
def test_no_page_shows_a_setting_of_an_earlier_run(change):
    """What it prints of how its set was made enters its key too, though no number of it depends on that."""
    before, after = load_config("digits", ()), load_config("digits", [change, "report.name=digits"])
    assert STAGE.settings(before) != STAGE.settings(after)


@pytest.mark.parametrize("section", ("cluster", "referee"))
def test_what_is_not_in_its_key_is_not_on_the_page(run, section):
    (page,) = (run / "reports").glob("*/index.html")
    shown = Page(page.read_text(encoding="utf-8")).text
    assert "[report]" in shown and "[train]" in shown
    assert f"[{section}]" not in shown


def test_where_the_work_is_done_makes_no_other_page():
    before, after = load_config("digits", ()), load_config("digits", ["cluster.address=local:2"])
    assert STAGE.settings(before) == STAGE.settings(after)


def test_the_page_of_a_run_is_whole(run):
    home = run / "reports" / "digits"
    page = Page((home / "index.html").read_text(encoding="utf-8"))
    check_self_contained(page)
    told = json.loads((home / "report.json").read_text(encoding="utf-8"))
    assert [m["method"] for m in told["methods"]] == ["swap", "contrast"]
    assert told["masks"]["law"] == "fixed-size"
    assert told["coding"] == {"name": "mask", "mse_mask": None, "mse_signed": None, "mse_constant": None, "n_models": 0}
    assert len(page.all("article")) == sum(min(4, m["n_findings"]) or 5 for m in told["methods"])
    assert len(page.all("svg", **{"class": "curve"})) == len(page.all("article"))
    assert "strongest helpers, by θ̂" in page.text
    assert "200 of 400, share 0.5" in page.text
    assert "the weights were fitted here" in page.text
    assert {"Command", "Stage download", "Stage fit", "Stage test", "Versions", "Seed"} <= told["provenance"].keys()
    for key in re.findall(r"[0-9a-f]{16}", " ".join(told["provenance"].values())):
        assert len(list((run / "data").glob(f"*/{key}"))) == 1


def test_a_curve_on_the_page_is_that_of_the_held_out_models(run):
    told = json.loads((run / "reports" / "digits" / "report.json").read_text(encoding="utf-8"))
    finding = told["methods"][1]["findings"][0]
    html = (run / "reports" / "digits" / "index.html").read_text(encoding="utf-8")
    card = html[html.index(f'id="{finding["method"]}-{finding["number"]}"') :]
    area = float(re.search(r"curve of [^:]*: area ([\d.]+)", card)[1])
    [source] = (run / "data" / "download").iterdir()
    [fitted] = (run / "data" / "fit").iterdir()
    masks = np.unpackbits(np.load(source / "masks.npy")[-4000:], axis=1, count=400).astype(bool)
    with np.load(fitted / "datamodel.npz") as arrays:
        k = arrays["targets"].tolist().index(finding["target"])
        theta, bias = arrays["weight"][:, k].astype(float), float(arrays["bias"][k])
    y = np.load(source / "margins.npy")[-4000:, finding["target"]].astype(float)
    i, j = finding["i"], finding["j"]
    theta[[i, j]] = 0.0
    r = y - bias - masks @ theta
    first, second = r[masks[:, i] & ~masks[:, j]], r[masks[:, j] & ~masks[:, i]]
    assert area == pytest.approx((first[:, None] > second).mean(), abs=0.002)
    assert finding["effect"] == pytest.approx(first.mean() - second.mean(), abs=1e-5)
    assert SquaredResidual(theta, bias)(masks, y).shape == y.shape


def test_single_images_on_the_page_are_those_of_the_held_out_models(run):
    """Estimates, intervals and findings of every line of atlas.csv, computed anew from the rows in the store."""
    home = run / "reports" / "digits"
    [source], [fitted] = ((run / "data" / name).iterdir() for name in ("download", "fit"))
    masks = np.unpackbits(np.load(source / "masks.npy")[-4000:], axis=1, count=400).astype(bool)
    y = np.load(source / "margins.npy")[-4000:]
    with np.load(fitted / "datamodel.npz") as arrays:
        targets, weight, bias = arrays["targets"].tolist(), arrays["weight"], arrays["bias"]
    told = json.loads((home / "report.json").read_text(encoding="utf-8"))["atlas"]
    lines = table(home / "atlas.csv")
    assert told["n_stand"] < told["n_nonzero"]
    page = Page((home / "index.html").read_text(encoding="utf-8"))
    assert f"nonzero weights that stand the test {told['n_stand']} of" in page.text
    for shown in told["targets"]:
        k = targets.index(shown["target"])
        true = influence(masks, y[:, shown["target"]], theta=weight[:, k], bias=float(bias[k]))
        own = [line for line in lines if int(line["target"]) == shown["target"]]
        found = {int(line["image"]) for line in own if line["finding"] == "true"}
        assert found == set(np.flatnonzero(adjust_pvalues(true.pvalue) <= 0.2).tolist())
        some = sorted(found)
        assert shown["n_stand"] == np.count_nonzero(weight[some, k] * true.estimate[some] > 0)
        images = [int(line["image"]) for line in own]
        for name, values in (("estimate", true.estimate), ("low", true.interval[0]), ("high", true.interval[1])):
            np.testing.assert_allclose([float(line[name]) for line in own], values[images], rtol=1e-4, atol=1e-6)
        order = np.argsort(-true.estimate)
        assert [single["image"] for single in shown["helpers"]] == order[:5].tolist()
        assert [single["rank"] for single in shown["hurters"]] == [400, 399, 398, 397, 396]


@pytest.fixture(scope="module")
def progressive(tmp_path_factory):
    """Every model but the first tests, in three blocks."""
    folder = tmp_path_factory.mktemp("progressive")
    ok(folder, "report", *SMALL, *PROGRESSIVE, *BOTH)
    return folder


def test_where_every_model_tests_the_page_says_on_how_many_each_method_was(progressive):
    home = progressive / "reports" / "digits-all"
    told = json.loads((home / "report.json").read_text(encoding="utf-8"))
    blocks = told["blocks"]
    assert blocks["n_first"] == blocks["n_models_fit"][0] == 8000
    assert sum(blocks["n_models"]) == told["n_models_test"] == 4000
    assert blocks["r2_median"][-1] == told["datamodels"]["r2_median"]
    swap, contrast = told["methods"]
    assert (swap["n_rows"], contrast["n_rows"]) == (blocks["n_models"][-1], 4000)
    assert {(line["method"], int(line["n_rows"])) for line in table(home / "tests.csv")} == {
        ("swap", swap["n_rows"]),
        ("contrast", 4000),
    }
    page = Page((home / "index.html").read_text(encoding="utf-8"))
    check_self_contained(page)
    assert "Every model but the first 8,000 tests: 4,000 models in 3 blocks" in page.text
    assert f"swap is tested on the last block’s {swap['n_rows']:,} models alone." in page.text


def test_findings_grow_with_the_blocks_as_the_pvalues_of_each_say(progressive):
    told = json.loads((progressive / "reports" / "digits-all" / "report.json").read_text(encoding="utf-8"))
    [stage] = (progressive / "data" / "test").iterdir()
    after = parquet.read_table(stage / "growth.parquet")
    swap, contrast = told["methods"]
    assert swap["growth"] is None
    found = [int((adjust_pvalues(after[f"after_{k}"].to_numpy()) <= 0.2).sum()) for k in (1, 2, 3)]
    assert contrast["growth"]["n_found"] == found
    assert found[-1] == contrast["n_findings"] > 0
    assert contrast["growth"]["n_models"] == np.cumsum(told["blocks"]["n_models"]).tolist()


def test_every_correction_is_counted_on_the_same_pvalues(run, progressive):
    for folder, name in ((run, "digits"), (progressive, "digits-all")):
        [stage] = (folder / "data" / "test").iterdir()
        tests = parquet.read_table(stage / "tests.parquet").to_pandas()
        told = json.loads((folder / "reports" / name / "report.json").read_text(encoding="utf-8"))
        for method in told["methods"]:
            p = tests.pvalue[tests.method == method["method"]].to_numpy()
            counts = method["n_findings_by_correction"]
            [stage] = (folder / "data" / "prior").iterdir()
            prior = read_prior(Result(stage, {}), method["method"])
            assert counts.pop("prior") == (adjust_pvalues(p, "prior", prior=prior) <= 0.2).sum()
            assert counts == {name: int((adjust_pvalues(p, name) <= 0.2).sum()) for name in counts}
            assert counts["by"] == method["n_findings"]


def test_open_hands_the_page_to_the_browser(run, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {tmp_path}/asked\n')
    browser.chmod(0o755)
    output = call(run, "report", *SMALL, *BOTH, "--open", BROWSER=str(browser))
    assert (tmp_path / "asked").read_text() == (run / "reports" / "digits" / "index.html").as_uri()
    assert output.count("cached") == 8


def test_without_a_browser_open_says_where_the_page_is(run):
    output = call(run, "report", *SMALL, *BOTH, "--open", BROWSER="", DISPLAY="", WAYLAND_DISPLAY="", PATH="/nowhere")
    assert output.endswith(f"no browser was found; open {run / 'reports' / 'digits' / 'index.html'}\n")
