"""What the report shows is what the agreement stage said, with dots of the tests that it compared."""

import json

import numpy as np
from pyarrow import parquet
from report_content import Page, check_self_contained
from small_fresh import FRESH, pipeline

from pipeline.stages.fresh import shown
from pipeline.stages.fresh.agreement import PAIRS
from pipeline.stages.fresh.shown import fresh_check


def test_dots_are_the_tests_and_too_many_are_thinned(inputs, monkeypatch):
    check = fresh_check(inputs)
    assert check.n_models == FRESH
    assert [family.name for family in check.families] == ["paired", "contrast", "atlas"]
    rows = parquet.read_table(inputs["agreement"].folder / PAIRS).to_pylist()
    contrast = check.families[1]
    own = [row for row in rows if row["method"] == "contrast" and row["finding"]]
    np.testing.assert_array_equal(contrast.found.effect, [row["effect"] for row in own])
    np.testing.assert_array_equal(contrast.found.fresh, [row["fresh"] for row in own])
    monkeypatch.setattr(shown, "MOST_DRAWN", 7)
    fewer = fresh_check(inputs).families[1]
    assert len(fewer.found.effect) == len(fewer.other.fresh) == 7
    assert set(fewer.found.effect) < set(contrast.found.effect)
    assert fresh_check({}) is None


def test_a_report_with_fresh_models_has_a_section_and_one_without_has_not(made, agreed):
    small = "report.max_panels=1"
    pipeline(made, small, f"verify.fresh={FRESH}").run("report")
    home = made.parent / "reports" / "digits"
    page = Page((home / "index.html").read_text(encoding="utf-8"))
    check_self_contained(page)
    assert "Held against fresh models" in page.text
    told = json.loads((home / "report.json").read_text(encoding="utf-8"))
    assert list(told["fresh"]["families"]) == ["paired", "contrast", "atlas"]
    assert told["fresh"]["families"]["contrast"]["findings"]["n"] == agreed.summary["methods"]["contrast"]["n_found"]
    assert "Stage agreement" in told["provenance"]
    pipeline(made, small).run("report")
    assert "fresh" not in json.loads((home / "report.json").read_text(encoding="utf-8"))
    assert "#fresh" not in (home / "index.html").read_text(encoding="utf-8")
