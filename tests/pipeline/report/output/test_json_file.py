"""The report for programs says the same as the page."""

import json
import math

import pytest
from report_content import make_blocks, make_masks, make_quality, make_row, make_rows
from report_page import read_table

from pipeline.report.content import Growth
from pipeline.text.numbers import number


def test_the_report_for_programs_says_the_same(report):
    rows = [*make_rows(40, 6), *make_rows(30, 0, method="swap"), make_row(77, effect=math.nan, effect_high=math.inf)]
    folder, page = report(rows, quality=make_quality([0.3, 0.5]), masks=make_masks(500))

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = (folder / "report.json").read_text(encoding="utf-8")
    told = json.loads(text, parse_constant=refuse)
    assert told["format"] == "datamodels-inf report 1"
    assert [(m["method"], m["n_tests"], m["n_findings"]) for m in told["methods"]] == [
        ("paired", 41, 7),
        ("swap", 30, 0),
    ]
    for method in told["methods"]:
        assert method["answer"] in page.text
        assert len(method["findings"]) == method["n_findings"]
        assert len(method["closest_misses"]) == (0 if method["n_findings"] else 5)
        assert number(method["threshold"]) in page.text
    lines = read_table(folder / "findings.csv")
    listed = [finding for method in told["methods"] for finding in method["findings"]]
    assert [finding["number"] for finding in listed] == list(range(1, 8))
    for finding, line in zip(listed, lines, strict=True):
        assert finding["pvalue"] == pytest.approx(float(line["pvalue"]), rel=1e-9)
        assert (finding["i"], finding["members_i"]) == (int(line["i"]), [int(line["i"])])
    assert [finding["effect"] for finding in listed].count(None) == 1
    assert told["masks"]["law"] == "bernoulli"
    assert told["methods"][1]["limits"]["detectable_effect"]["swap"] > 0


def test_blocks_of_models_and_what_came_of_them(report):
    growth = {"paired": Growth((200, 600, 900), (0, 4, 6))}
    folder, _ = report(make_rows(40, 6), blocks=make_blocks(), n_models_test=900, growth=growth)
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert told["blocks"]["n_models"] == [200, 400, 300]
    assert told["blocks"]["n_models_fit"] == [100, 300, 700]
    assert told["blocks"]["r2_median"] == pytest.approx([0.3, 0.45, 0.6])
    [method] = told["methods"]
    assert (method["n_rows"], method["growth"]) == (900, {"n_models": [200, 600, 900], "n_found": [0, 4, 6]})
    assert method["prior"] is None
