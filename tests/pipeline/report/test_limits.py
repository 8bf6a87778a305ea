"""A page has room for 5 MB, whatever there is to show; what it leaves out, it says."""

import dataclasses
import json

import numpy as np
import pytest
from report_content import groups_of, make_content, make_row, make_rows

from datamodels_inf.methods import METHODS
from pipeline.report import Images, write_report
from pipeline.report.content import Curve, Gallery, Weighted
from pipeline.report.evidence.curves import curve_of
from pipeline.report.limits import ALL_PANELS, PAGE_BYTES, Limits, panels_of_each
from pipeline.report.output.json_file import LISTED_CHARACTERS

COUNT = 3000  # images: more than a page could hold without loss


def test_panels_are_shared_by_the_methods_that_have_findings():
    groups = groups_of([*make_rows(9, 3), *make_rows(9, 2, method="swap"), *make_rows(9, 0, method="contrast")])
    assert panels_of_each(groups, 50) == 50
    assert panels_of_each(groups, 500) == ALL_PANELS // 2
    assert Limits.of(groups, 50) == Limits(50, 2000)
    assert Limits.of(groups[:1], 999) == Limits(ALL_PANELS, 2000)
    assert Limits.of([], 50) == Limits(50, 2000)


def test_a_page_that_is_too_long_loses_rows_first_and_panels_last():
    limits = Limits(50, 2000)
    fewer = limits.smaller(2 * PAGE_BYTES)
    assert fewer == Limits(50, 899)
    for _ in range(60):
        fewer = fewer.smaller(2 * PAGE_BYTES)
    assert fewer == Limits(0, 0)


def photographs(n):
    """Colour images with the detail of photographs: coarse shapes, finer ones, and noise."""
    rng = np.random.default_rng(0)
    made = sum(
        np.repeat(np.repeat(rng.normal(0, size, (n, side, side, 3)), 32 // side, 1), 32 // side, 2)
        for side, size in ((2, 60), (4, 40), (8, 25), (16, 15), (32, 10))
    )
    return np.clip(made + 128, 0, 255).astype(np.uint8)


def worst_case(found=250):
    """Four methods, each with other targets and other images in every panel, curves and galleries."""
    rng = np.random.default_rng(1)
    rows, curves, galleries = [], {}, {}
    for m, method in enumerate(METHODS):
        for k in range(found):
            row = make_row(k + 1000 * m, method=method, n_rows=4000, n_informative=2000)
            i, j, target = rng.integers(0, COUNT, 3).tolist()
            first = {"target": 50 * m + k, "pvalue": 1e-20 * (k + 1)} if k < 50 else {"target": target}
            rows.append(dataclasses.replace(row, i=i, j=j, **first))
            curves[rows[-1].key] = curve_of(METHODS[method].curve, rng.normal(size=500), rng.normal(size=500))
    for target in range(200):
        strip = [Weighted(k, "cat", 0.1) for k in rng.integers(0, COUNT, 12).tolist()]
        galleries[target] = Gallery(tuple(strip[:6]), tuple(strip[6:]))
    assert isinstance(next(iter(curves.values())), Curve)
    images = photographs(COUNT)
    return make_content(rows, images=Images(images, images[::-1].copy()), curves=curves, galleries=galleries)


def test_four_methods_with_fifty_colour_panels_each_fit_into_a_page(report, tmp_path):
    content = worst_case()
    write_report(tmp_path, content)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert len(html.encode()) <= PAGE_BYTES
    assert html.count('<article class="card"') == len(list(tmp_path.glob("panels/*"))) == 200
    assert html.count("<li title=") == 200 * 12
    assert "no room for this image" not in html
    assert (tmp_path / "report.json").stat().st_size < LISTED_CHARACTERS + 200_000


@pytest.mark.parametrize(("members", "found"), [(1, 2100), (900, 600)])
def test_a_table_of_large_groups_is_cut_where_the_page_is_full_and_says_so(report, members, found):
    sides = {"members_i": tuple(range(members)), "members_j": tuple(range(members, 2 * members))} if members > 1 else {}
    rows = [make_row(k, i=0, j=members, **sides) for k in range(found)]
    images = Images(np.zeros((2 * members + 1, 8, 8), np.uint8), np.zeros((12, 8, 8), np.uint8))
    folder, page = report(rows, images=images, max_panels=5, train_classes=["dog"] * (2 * members + 1))
    assert (folder / "index.html").stat().st_size <= PAGE_BYTES
    listed = len(page.rows) - 1
    assert (listed == 2000) == (members == 1)
    assert listed > 0
    assert f"Here are the first {listed:,} of the {found:,} findings" in page.text
    assert (
        f"The table below has the first {listed:,} of the {found:,} findings; all {found:,} are in findings.csv"
        in page.text
    )
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))["methods"][0]
    assert (told["n_findings"], told["n_findings_listed"]) == (found, len(told["findings"]))
    assert (folder / "report.json").stat().st_size < LISTED_CHARACTERS + 200_000
    assert (folder / "findings.csv").read_text().count("\n") == found + 1
