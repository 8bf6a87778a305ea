"""Held against fresh models: only where such were trained, with the figures of the stage."""

import json

import numpy as np
from report_content import make_rows

from datamodels_inf.replication import Replication
from pipeline.report.content.fresh import FreshCheck, FreshFamily, Points

FINDINGS = Replication(545, 0.9945, 0.984, 1.0, 0.93, 0.98, 527, 0, 0.991, 0.011, 0.024)
OTHERS = Replication(545, 0.703, 0.662, 0.742, 0.96, 0.62, 122, 1)
NONE, SOME = Points(np.zeros(0), np.zeros(0)), Points(np.array([-0.2, 0.4]), np.array([-0.1, 0.5]))
CONTRAST = FreshFamily("contrast", 2000, 545, FINDINGS, OTHERS, SOME, SOME)
SWAP = FreshFamily("swap", 2000, 0, None, OTHERS, NONE, SOME)


def tables_of(page):
    return [rows for kind, rows in page.tables if kind == "fresh"]


def test_tables_sentences_and_drawings_say_the_same(report):
    folder, page = report(make_rows(40, 6), fresh=FreshCheck(10_000, (CONTRAST, SWAP), "x: 5 of 9."))
    text = (
        "contrast: 99.5 % of 545 findings have the same sign by the fresh models, so about 1.1 % or fewer are false "
        "(95 % bound: 2.4 %). Confirmed by the fresh models alone: 527; reversed: 0."
    )
    assert text in page.text
    assert "swap: no finding to compare." in page.text
    assert "x: 5 of 9." in page.text
    findings, others = tables_of(page)
    assert [row[0] for row in findings] == ["by", "contrast"]
    assert [row[0] for row in others] == ["by", "contrast", "swap"]
    assert findings[1][2].replace("\N{NO-BREAK SPACE}", " ") == "99.5 %"
    assert "false" in findings[0]
    assert "false" not in others[0]
    drawings = [a for a in page.all("svg") if a.get("class") == "scatter sorted"]
    assert len(drawings) == 2
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))["fresh"]
    assert told["n_models"] == 10_000
    assert told["families"]["contrast"]["findings"]["false_bound"] == 0.024
    assert told["families"]["swap"] == {
        "n_tests": 2000, "n_findings": 0, "findings": None, "others": told["families"]["contrast"]["others"],
    }  # fmt: skip


def test_beyond_a_tau_nothing_is_said_of_false_findings(report):
    unsaid = Replication(9, 1.0, 0.6, 1.0, 0.9, 1.0, 8, 0, 1.0)
    family = FreshFamily("swap", 2000, 9, unsaid, None, NONE, NONE)
    _, page = report(make_rows(40, 6), fresh=FreshCheck(1000, (family,)))
    assert "are false" not in page.text
    assert len(tables_of(page)) == 1
    assert not [a for a in page.all("svg") if a.get("class") == "scatter sorted"]


def test_without_fresh_models_the_page_has_no_such_section(report):
    folder, page = report(make_rows(40, 6))
    assert "fresh" not in page.text
    assert "#fresh" not in page.html
    assert "fresh" not in json.loads((folder / "report.json").read_text(encoding="utf-8"))
