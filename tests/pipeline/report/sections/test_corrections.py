"""What each correction finds and promises."""

import json

import numpy as np
from report_content import make_counts, make_rows, make_weighted

from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.report.content import Expectation


def tables(page):
    return [rows for kind, rows in page.tables if kind == "corrections"]


def test_each_correction_has_its_findings_and_its_promise(report):
    rows = [*make_rows(40, 24), *make_rows(30, 0, method="swap")]
    counts = {"paired": make_counts(), "swap": make_counts(by=0)}
    folder, page = report(rows, max_panels=1, counts=counts, correction="holm")
    first, second = tables(page)
    assert [line[1] for line in first[1:]] == ["24", "31", "12", "12", "26", "–"]
    assert second[1][1] == "0"
    for line, rule in zip(first[1:], CORRECTIONS.values(), strict=True):
        assert line[0].startswith(f"{rule.title} {rule.name}")
        assert ("in use" in line[0]) == (rule.name == "holm")
        assert line[3] == rule.dependence
        chance = "at most a 20\N{NO-BREAK SPACE}% chance of any false finding"
        assert line[2] == ("a false discovery rate of at most 0.2" if rule.controls == "FDR" else chance)
    assert "Not counted: no weights and no shape were made from the models of the fit." in first[6][0]
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"]
    assert told[0]["n_findings_by_correction"] == make_counts()


def test_the_prior_says_what_it_expected_or_why_it_did_not(report):
    rows, expectations = make_weighted(make_rows(40, 24))
    _, page = report(rows, max_panels=1, counts={"paired": make_counts(prior=25)}, expectations=expectations)
    assert "Expected from the models of the fit: 20 (90 % interval 15 to 26); with Benjamini–Yekutieli 18." in page.text
    assert tables(page)[0][6][1] == "25"
    reason = "the fit rows know nothing about these tests"
    flat = {"paired": Expectation(Prior(np.ones(40), Shape.benjamini_yekutieli(40)), reason=reason)}
    _, page = report(rows, max_panels=1, counts={"paired": make_counts(prior=24)}, expectations=flat)
    assert f"As Benjamini–Yekutieli: {reason}." in page.text
    assert "Predicted and realised" not in page.text


def test_without_counts_there_is_no_such_section(report):
    _, page = report(make_rows(40, 6))
    assert "What each correction finds" not in page.text
