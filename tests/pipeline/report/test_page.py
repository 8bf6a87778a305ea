"""What the sections share: the methods of the page, what of them is drawn, and how close it was."""

import math

import pytest
from report_content import make_content, make_row, make_rows

from pipeline.report.page import Page


def test_twenty_findings_with_fewer_panels(report):
    folder, page = report(make_rows(60, 20), max_panels=6)
    assert len(page.all("article")) == len(list(folder.glob("panels/*"))) == 6
    assert len(page.pictures) == 18 + len(page.all("section", **{"class": "group"}))
    assert "14 more findings have no panel here. All of them are in the table below and in findings.csv" in page.text
    assert "datamodels-inf panel --finding paired-7" in page.text
    assert len(page.rows) == 21
    assert [a["href"] for a in page.all("a") if a["href"].startswith("#pa")] == [f"#paired-{k}" for k in range(1, 7)]
    _, page = report(make_rows(60, 20), max_panels=19)
    assert "1 more finding has no panel here. It is in the table below" in page.text
    folder, page = report(make_rows(60, 20), max_panels=0)
    assert [image["id"] for image in page.all("img")] == ["sprite"]
    assert not (folder / "panels").exists()


def test_the_edge_is_the_threshold_and_the_nearest_pvalue():
    found = [make_row(k, pvalue=p, finding=True) for k, p in enumerate((1e-6, 0.004))]
    rest = [make_row(k, pvalue=p, finding=False) for k, p in enumerate((0.03, 0.5))]
    [method] = Page.of(make_content([*rest, *found], correction="bonferroni", alpha=0.04)).methods
    assert (method.edge.threshold, method.edge.nearest) == ("0.01", "largest of a finding 0.004")
    assert (method.longer, method.n_found, method.not_drawn) == ("99 %", 2, 0)
    [method] = Page.of(make_content(rest, correction="bonferroni", alpha=0.02)).methods
    assert (method.edge.threshold, method.edge.nearest) == ("0.01", "the smallest is 0.03")
    assert (method.longer, method.n_found, method.not_drawn) == ("", 0, 0)
    [method] = Page.of(make_content([make_row(pvalue=math.nan, finding=False)])).methods
    assert (method.edge.threshold, method.edge.nearest) == ("not known", "no p-value is known")


def test_methods_are_numbered_as_they_come_and_each_has_its_own_end():
    rows = [*make_rows(30, 9), *make_rows(20, 0, method="swap")]
    page = Page.of(make_content(rows, max_panels=4))
    assert [(method.index, method.name, len(method.drawn), method.not_drawn) for method in page.methods] == [
        (0, "paired", 4, 5),
        (1, "swap", 5, 0),
    ]
    assert (page.several, page.n_findings) == (True, 9)
    assert [row.pvalue for row in page.findings] == sorted(row.pvalue for row in rows if row.finding)
    ends = [end for m in page.methods for item in m.drawn for end in (item.row.effect_low, item.row.effect_high)]
    assert page.bar_end >= max(map(abs, ends))


def test_classes_are_numbered_in_their_order_then_as_findings_bring_them():
    rows = [make_row(1, class_i="yak", class_j="cat"), make_row(2, finding=False, class_i="emu", class_j="gnu")]
    assert Page.of(make_content(rows, class_names=("dog", "cat"))).class_numbers == {"dog": 0, "cat": 1, "yak": 2}


@pytest.mark.parametrize(
    ("law", "words"),
    [("bernoulli", "as if by independent coins"), ("stratified", "so many images of each"), ("x", "x")],
)
def test_the_law_of_the_masks_in_words(law, words):
    assert words in Page.of(make_content([], mask_law=law)).mask_law
