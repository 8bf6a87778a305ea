"""The plots of p-values."""

import math
import re

import numpy as np
from report_content import groups_of, make_row
from report_page import points_of

from datamodels_inf import adjust_pvalues
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.report.sections.pvalues import plots_of


def test_sorted_pvalues_lie_where_they_belong():
    p = [1e-40, 1e-6, 1e-3, 0.2, 0.5, 1.0, math.nan]
    adjusted = adjust_pvalues(np.array(p), "by")
    rows = [make_row(k, finding=bool(a <= 0.2), pvalue=v) for k, (v, a) in enumerate(zip(p, adjusted, strict=True))]
    plot = plots_of(groups_of(rows)[0], "by", 0.2).sorted
    assert plot.note == "1 p-value below the plot, the smallest 1 × 10⁻⁴⁰."
    assert plot.beyond.count("z") == 1
    assert len(points_of(plot.found)) == sum(row.finding for row in rows) - 1 == 2
    assert len(points_of(plot.others)) == 3
    line = [tuple(map(float, point.split(" "))) for point in plot.line[1:].split("L")]
    heights = dict(line)
    assert all(y > np.interp(x, *zip(*sorted(heights.items()), strict=True)) for x, y in points_of(plot.found))
    assert all(y < np.interp(x, *zip(*sorted(heights.items()), strict=True)) for x, y in points_of(plot.others))
    assert points_of(plot.others)[-1][1] == 10.0
    assert plots_of(groups_of([make_row(pvalue=math.nan)])[0], "by", 0.2) is None
    assert plots_of(groups_of([make_row(pvalue=0.0)])[0], "holm", 0.2).sorted.note.startswith(
        "1 p-value below the plot"
    )


def test_thousands_of_pvalues_are_thinned_and_the_histogram_counts_all():
    p = np.random.default_rng(3).random(5000)
    plots = plots_of(groups_of([make_row(0, False, pvalue=float(v)) for v in p])[0], "bh", 0.1)
    assert 150 < len(points_of(plots.sorted.others)) <= 240
    tops = [float(v) for v in re.findall(r"V([\d.]+)h", plots.histogram.columns)]
    counts = np.histogram(p, 20, (0, 1))[0]
    np.testing.assert_allclose((210 - np.array(tops)) / (210 - plots.histogram.uniform), counts / 250, atol=0.01)
    assert plots.histogram.note == f"{counts[0]} of 5,000 lie in the first column, {counts[-1]} in the last."


def test_with_a_prior_it_is_p_over_w_that_is_sorted_against_the_line():
    """The second test has the larger p-value and, by its weight, the smaller p/w."""
    shape = Shape(3, np.array([1, 2]), np.array([0.5, 0.5]), 0.0)
    prior = Prior(np.array([0.5, 2.0, 0.5]), shape)
    p = np.array([0.03, 0.05, 0.9])
    found = adjust_pvalues(p, "prior", alpha=0.2, prior=prior) <= 0.2
    assert found.tolist() == [True, True, False]
    rows = [
        make_row(k, finding=bool(f), pvalue=v, weight=w)
        for k, (v, w, f) in enumerate(zip(p.tolist(), prior.weight.tolist(), found, strict=True))
    ]
    plot = plots_of(groups_of(rows)[0], "prior", 0.2, shape).sorted
    heights = [y for _, y in points_of(plot.found)]
    scale = [(210.0 - 10.0) * np.log10(v) / -2 + 10.0 for v in (0.05 / 2.0, 0.03 / 0.5)]
    assert heights == [round(y, 1) for y in scale]
    assert points_of(plot.others)[0][1] == 10.0
    assert "the smallest is 0.025, where the line of the correction starts at 0.0333" in plot.label
