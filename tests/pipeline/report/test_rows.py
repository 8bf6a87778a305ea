"""The order of findings, and methods in groups."""

import math
import re

import pytest
from report_content import groups_of, make_row, make_rows
from report_page import read_table


def test_findings_come_in_order_and_methods_in_groups(report):
    same = [
        make_row(finding=True, pvalue=1e-6, effect=effect, target=target, i=i, j=5)
        for effect, target, i in [(0.1, 0, 0), (-0.3, 3, 2), (-0.3, 3, 1), (-0.3, 2, 9), (math.nan, 0, 0)]
    ]
    other = [make_row(7, method="swap", pvalue=1e-9), *make_rows(3, 0, method="swap-exact")]
    folder, page = report([*same, *other, make_row(8, finding=True, pvalue=1e-7)])
    lines = read_table(folder / "findings.csv")
    assert [(r["method"], r["target"], r["i"]) for r in lines[1:]] == [
        ("paired", "2", "9"),
        ("paired", "3", "1"),
        ("paired", "3", "2"),
        ("paired", "0", "0"),
        ("paired", "0", "0"),
        ("swap", lines[-1]["target"], lines[-1]["i"]),
    ]
    assert "paired 6 of 6 pairs influence" in page.text
    assert "swap 1 of 1 pair influences" in page.text
    assert "swap-exact None of the 3 pairs was" in page.text
    assert sorted(a["id"] for a in page.all("article") if "id" in a) == [
        *(f"paired-{k}" for k in range(1, 7)),
        "swap-1",
    ]
    assert [g.method for g in groups_of([*same, *other])] == ["paired", "swap", "swap-exact"]
    assert [a["value"] for a in page.all("input", name="method")] == ["0", "1", "2"]
    sections = re.findall(r'<div class="of-method" data-method="(\d)">\s*<h3>([^<]+)</h3>', page.html)
    assert sections[:3] == [("0", "paired"), ("1", "swap"), ("2", "swap-exact")]


def test_the_threshold_of_closed_testing_is_at_least_its_last_finding():
    [group] = groups_of([make_row(1, pvalue=1e-6), make_row(2, pvalue=0.15), make_row(3, finding=False, pvalue=0.5)])
    assert group.threshold("closed-by", 0.2) == 0.15
    assert group.threshold("by", 0.2) == pytest.approx(0.2 * 2 / (3 * (1 + 1 / 2 + 1 / 3)))
    [nothing] = groups_of([make_row(3, finding=False, pvalue=0.5)])
    assert nothing.threshold("closed-by", 0.2) == nothing.threshold("by", 0.2) == pytest.approx(0.2)
