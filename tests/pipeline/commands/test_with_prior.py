"""Commands with weights from the fit rows: the same findings everywhere, each with the interval of its own weight."""

import csv
import io
import re

import numpy as np
import pytest
from command_here import call, ok
from pyarrow import parquet
from scipy.stats import t
from small_prior import pipeline, words

from datamodels_inf import adjust_pvalues
from datamodels_inf.multiplicity import selected_confidence
from pipeline.stages.atlas.found import Found
from pipeline.stages.prior.files import read_prior

MORE = ("atlas.targets=[3, 8, 9]", "report.max_panels=1", "fit.targets=all")
AGAIN = ("robustness.n_targets=2", "robustness.neighbours=2")


@pytest.fixture(scope="module")
def run(estimated_source, tmp_path_factory):
    """(folder, words of the command line)."""
    folder = tmp_path_factory.mktemp("prior")
    asked = words(estimated_source, *MORE)
    ok(folder, "run", *asked)
    return folder, asked


@pytest.fixture(scope="module")
def made(run, estimated_source):
    return pipeline(estimated_source, run[0] / "data", *MORE)


@pytest.fixture(scope="module")
def found(made):
    """method → rows of its findings, with the interval that each should have."""
    table = parquet.read_table(made.run("test").folder / "tests.parquet").to_pylist()
    answers = {}
    for method in ("contrast", "paired"):
        rows = [row for row in table if row["method"] == method]
        prior = read_prior(made.run("prior"), method)
        adjusted = adjust_pvalues([row["pvalue"] for row in rows], "prior", prior=prior)
        own = np.flatnonzero(adjusted <= 0.2)
        level = selected_confidence("prior", 0.2, len(rows), len(own), shape=prior.shape)
        for k in own.tolist():
            left_out = min(0.05, prior.weight[k] * (1 - level))
            half = t.isf(left_out / 2, rows[k]["effect_df"]) * rows[k]["effect_se"]
            rows[k] |= {"adjusted": adjusted[k], "ends": (rows[k]["effect"] - half, rows[k]["effect"] + half)}
        answers[method] = [rows[k] for k in own.tolist()]
    return answers


def key(row):
    return int(row["i"]), int(row["j"]), int(row["target"])


def test_findings_have_the_intervals_of_their_weights(run, found):
    folder, asked = run
    rows = list(csv.DictReader(io.StringIO(ok(folder, "findings", *asked, "--csv"))))
    for method, expected in found.items():
        own = {key(row): row for row in rows if row["method"] == method}
        assert own.keys() == {key(row) for row in expected}
        assert len(own) > 5
        for row in expected:
            said = own[key(row)]
            ends = float(said["effect_low_selected"]), float(said["effect_high_selected"])
            assert ends == pytest.approx(row["ends"], rel=1e-6)
            assert float(said["pvalue_adjusted"]) == pytest.approx(row["adjusted"])
    text = ok(folder, "findings", *asked, "--method", "contrast")
    assert "at a false discovery rate of 0.2 (weighted step-up" in text
    assert re.search(r"As a finding \(9[\d.]+ % to 9[\d.]+ %\): the expected share of findings", text)


def test_compare_and_the_page_count_the_same_findings(run, found, made):
    folder, asked = run
    lines = [line.split() for line in ok(folder, "compare", *asked).splitlines()]
    (header,) = (line for line in lines if line[:1] == ["method"])
    place = header.index("findings")
    counts = {line[0]: int(line[place]) for line in lines if line and line[0] in found}
    assert counts == {method: len(rows) for method, rows in found.items()}
    assert made.run("report").summary["n_findings"] == counts


def test_influences_are_findings_by_their_weights(run, made):
    folder, asked = run
    made.run("influence")
    inputs = made.finished(("download", "fit", "evidence", "atlas", "influence"), "")
    decided = Found.read(inputs)
    rows = csv.DictReader(io.StringIO(ok(folder, "influence", *asked, "--target", "8", "--top", "24", "--csv")))
    said = {int(row["image"]): row for row in rows}
    images = np.array(sorted(said))
    place = inputs["atlas"].summary["targets"].index(8)
    finding = decided.is_finding(place, images)
    assert [said[k]["finding"] in ("True", "true", "1") for k in images.tolist()] == finding.tolist()
    assert 0 < finding.sum() < len(images)
    for image, level, is_finding in zip(images.tolist(), decided.levels(place, images), finding, strict=True):
        if is_finding:
            half = t.isf((1 - level) / 2, 499) * float(said[image]["standard_error"])
            assert float(said[image]["high_selected"]) == pytest.approx(float(said[image]["estimate"]) + half, rel=1e-5)
    text = ok(folder, "influence", *asked, "--image", "3")
    on = decided.of_image(3)
    assert f"influences {on.sum()} of 3 targets" in text


@pytest.mark.parametrize("split", (False, True))
def test_robustness_takes_its_findings_by_the_same_weights(estimated_source, made, found, split):
    again = pipeline(
        estimated_source, made.store.root, *MORE, *AGAIN, "robustness.top=100", f"robustness.split={str(split).lower()}"
    )
    cases = again.run("robustness").summary["cases"]
    pairs = {(case["i"], case["j"], case["targets"][0]) for case in cases}
    everything = {key(row) for row in found["contrast"]}
    if split:
        assert 0 < len(pairs) < len(everything)
    else:
        assert pairs == everything


def test_a_split_may_be_found_by_a_method_of_its_own(estimated_source, made):
    own = ("robustness.top=1", "robustness.split=true", "robustness.method=swap")
    again = pipeline(estimated_source, made.store.root, *MORE, *AGAIN, *own)
    assert again.run("robustness").summary["method"] == "swap"
    assert set(again.run("prior").summary["methods"]) == {"contrast", "paired", "swap"}


def test_where_the_weights_are_missing_the_whole_run_is_asked_for(run, tmp_path):
    _, asked = run
    ok(tmp_path, "test", *asked)
    done = call(tmp_path, "findings", *asked)
    assert done.returncode == 2
    assert "the evidence stage of this configuration is not in data (not run before); first run: " in done.stderr
    assert "datamodels-inf run --config" in done.stderr
