"""What the report works out itself: curves, galleries, thresholds, limits, and the drawings of the diagnostics."""

import dataclasses
import math
import re

import numpy as np
import pytest
from report_content import make_content, make_masks, make_quality, make_row, make_rows
from scipy.stats import binom

from datamodels_inf import PackedMasks, SquaredResidual, adjust_pvalues, contrast, paired_swap_test, swap_test
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.comparison import halves, swap_columns
from datamodels_inf.methods import SCORES
from datamodels_inf.multiplicity import critical_values as lines
from datamodels_inf.multiplicity import threshold
from datamodels_inf.planning import detectable_effect, plan
from pipeline.report.drawing.class_heatmap import heatmap_of
from pipeline.report.drawing.distribution import distribution_of, log_columns
from pipeline.report.drawing.dominance_curve import curve_view
from pipeline.report.drawing.pvalue_plots import plots_of
from pipeline.report.evidence.curves import HeldOut, curve_of, curves_of
from pipeline.report.evidence.detectable_effects import POWER, detectable_of
from pipeline.report.evidence.galleries import galleries_of
from pipeline.report.rows import groups_of
from pipeline.report.sections import masks as mask_view

METHODS = ("swap", "swap-exact", "paired", "contrast")
TARGETS = np.array([3, 8])


@pytest.fixture(scope="module")
def held_out():
    """Masks, margins and weights of two targets, and the same as plain arrays."""
    rng = np.random.default_rng(0)
    masks = rng.random((301, 12)) < 0.5
    weight = rng.normal(0, 0.5, (12, 2)).astype(np.float32)
    weight[:, 1] = np.where(np.arange(12) < 4, weight[:, 1], 0.0)
    bias = np.array([0.3, -0.2])
    y = (masks @ weight + bias + rng.normal(0, 0.3, (301, 2))).astype(np.float16)
    datamodel = Datamodel(weight, bias, np.full(2, np.nan))
    place = {3: 0, 8: 1}
    packed = PackedMasks.from_bool(masks)
    asked = HeldOut(packed, lambda t: y[:, [place[k] for k in t.tolist()]], datamodel, TARGETS, "permuted", 0)
    return asked, masks, y.astype(np.float64), weight.astype(np.float64), bias


def naive_samples(method, masks, y, theta, bias, left, right):
    """By the definitions, on copies of the masks in which the columns are exchanged."""
    pair = np.array([left, right])
    score = SquaredResidual(theta, bias)
    if method in ("swap", "swap-exact"):
        first, second = halves(len(y), "permuted", 0)
        return score(masks[first], y[first]), score(swap_columns(masks[second], pair), y[second])
    if method == "paired":
        d = np.array([float((score(masks, y) - score(swap_columns(masks, pair), y))[m]) for m in range(len(y))])
        d = d[(masks[:, left] != masks[:, right]).any(axis=1)]
        return d, -d
    others = [k for k in range(masks.shape[1]) if k not in (*left, *right)]
    r = y - bias - masks[:, others] @ theta[others]
    with_i = masks[:, left].all(axis=1) & ~masks[:, right].any(axis=1)
    with_j = masks[:, right].all(axis=1) & ~masks[:, left].any(axis=1)
    return r[with_i], r[with_j]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("left", "right"), [((0,), (5,)), ((7,), (2,)), ((0, 3), (5, 1))])
def test_curves_show_the_samples_that_the_test_compares(held_out, method, left, right):
    asked, masks, y, weight, bias = held_out
    members = {"members_i": left, "members_j": right} if len(left) > 1 else {}
    row = make_row(method=method, target=3, i=left[0], j=right[0], **members)
    other = make_row(method=method, target=8, i=1, j=2)
    curve = curves_of([row, other], asked)[row.key]
    first, second = naive_samples(method, masks, y[:, 0], weight[:, 0], bias[0], left, right)
    wins = (first[:, None] > second[None]).mean() + 0.5 * (first[:, None] == second[None]).mean()
    assert curve.area == pytest.approx(wins, abs=1e-3)
    # Between the thresholds the curve may be anywhere in the rectangle, so the polygon's area is only close.
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(wins, abs=0.02)
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert (np.diff(curve.x) >= 0).all()
    assert (np.diff(curve.y) >= 0).all()


def test_curves_agree_with_the_tests(held_out):
    asked, masks, y, weight, bias = held_out
    rows = [make_row(method=method, target=3, i=0, j=5) for method in METHODS]
    curves = curves_of(rows, asked)
    score = SquaredResidual(weight[:, 0], bias[0])
    unpaired = swap_test(masks, y[:, 0], 0, 5, score=score)
    assert curves[rows[0].key].area == pytest.approx(unpaired.statistic, abs=0.05)
    paired = paired_swap_test(masks, y[:, 0], 0, 5, score=score)
    assert (curves[rows[2].key].area < 0.5) == (paired.statistic < 0.5)
    effect = contrast(masks, y[:, 0], 0, 5, theta=weight[:, 0], bias=bias[0])
    assert (curves[rows[3].key].area > 0.5) == (effect.estimate > 0)
    assert [curves[row.key].kind.name for row in rows] == ["scores", "scores", "differences", "residuals"]


def test_a_pair_that_the_test_cannot_see_has_no_curve_of_differences(held_out):
    asked, *_ = held_out
    blind = make_row(method="paired", target=8, i=6, j=7)
    assert curves_of([blind, make_row(method="another")], asked) == {}
    assert curves_of([], asked) == {}


def test_equal_samples_give_the_diagonal_and_few_values_all_their_steps():
    sample = np.random.default_rng(1).normal(size=1000)
    curve = curve_of(SCORES, sample, sample)
    assert curve.x == curve.y
    assert curve.area == pytest.approx(0.5)
    assert len(curve.x) <= 50
    steps = curve_of(SCORES, np.array([1.0, 2.0]), np.array([2.0, 3.0, 3.0]))
    assert steps.x == (0.0, 0.5, 1.0, 1.0)
    assert steps.y == pytest.approx((0.0, 0.0, 1 / 3, 1.0))
    assert steps.area == pytest.approx(0.5 / 6)
    view = curve_view(steps, "margin")
    assert view.line == "M18 108L70 108L122 73.3L122 4"
    assert (view.below, view.area_text) == (True, "area 0.08")


def test_galleries_hold_the_largest_weights_and_no_zero(held_out):
    asked, _, _, weight, _ = held_out
    galleries = galleries_of([3, 8], asked, lambda k: f"class {k % 2}")
    order = np.argsort(-weight[:, 0])
    assert [w.index for w in galleries[3].helpers] == [k for k in order[:6].tolist() if weight[k, 0] > 0]
    assert [w.index for w in galleries[3].hurters] == [k for k in order[::-1][:6].tolist() if weight[k, 0] < 0]
    assert galleries[3].helpers[0].label == f"class {order[0] % 2}"
    sparse = galleries[8]
    assert len(sparse.helpers) + len(sparse.hurters) == 4
    assert all(w.theta > 0 for w in sparse.helpers)
    assert all(w.theta < 0 for w in sparse.hurters)


@pytest.mark.parametrize("correction", ["by", "bh", "holm", "bonferroni"])
def test_the_threshold_parts_findings_from_the_rest(correction):
    rng = np.random.default_rng(2)
    for strength in (0.0, 0.5, 2.0, 6.0):
        for m in (1, 7, 200):
            p = 10.0 ** (-strength * rng.random(m)) * rng.random(m)
            found = adjust_pvalues(p, correction) <= 0.2
            limit = threshold(correction, 0.2, m, int(found.sum()))
            if found.any():
                np.testing.assert_array_equal(p <= limit * (1 + 1e-12), found)
            else:
                assert p.min() > limit
            assert (np.diff(lines(correction, 0.2, m)) >= 0).all()


def test_limits_are_those_of_the_planner():
    quality = make_quality([0.3, 0.5, 0.4], targets=np.array([0, 1, 2]), mse=np.array([0.04, 0.09, 4.0]))
    rows = [make_row(k, finding=False, target=k % 2) for k in range(40)]
    content = make_content(rows, quality=quality, masks=make_masks())
    [group] = groups_of(rows)
    limits = detectable_of(group, content)
    assert limits.noise == pytest.approx(math.sqrt(0.065))
    assert limits.level == pytest.approx(0.2 / (40 * sum(1 / k for k in range(1, 41))))
    assert limits.of_miss
    assert limits.effect == pytest.approx(abs(group.misses[0].row.effect))
    share = make_masks().report.proportion
    found = detectable_effect(1000, alpha=limits.level, power=POWER, noise=limits.noise, proportion=share)
    needed = plan(effect=limits.effect, alpha=limits.level, power=POWER, noise=limits.noise, proportion=share)
    assert [r.method for r in limits.reaches] == ["swap", "swap-exact", "paired", "contrast"]
    assert [r.effect for r in limits.reaches] == [found.swap, found.swap_exact, found.paired, found.contrast]
    assert [r.models for r in limits.reaches] == [needed.swap, needed.swap_exact, needed.paired, needed.contrast]


def test_limits_with_findings_tiny_effects_and_unknown_noise():
    rows = make_rows(40, 5)
    quality, masks = make_quality([0.3] * 12), make_masks()
    [group] = groups_of(rows)
    limits = detectable_of(group, make_content(rows, quality=quality, masks=masks))
    assert not limits.of_miss
    assert limits.effect == min(abs(item.row.effect) for item in group.findings)
    assert limits.level == pytest.approx(threshold("by", 0.2, 40, 5))
    tiny = [dataclasses.replace(row, effect=1e-5) for row in make_rows(9, 0)]
    limits = detectable_of(groups_of(tiny)[0], make_content(tiny, quality=quality, masks=masks))
    assert not limits.planned
    assert {reach.models for reach in limits.reaches} == {None}
    unknown = [dataclasses.replace(row, effect=math.nan) for row in make_rows(9, 0)]
    assert math.isnan(detectable_of(groups_of(unknown)[0], make_content(unknown, quality=quality, masks=masks)).effect)
    assert detectable_of(group, make_content(rows, masks=masks)) is None
    assert detectable_of(group, make_content(rows, quality=quality)) is None
    assert detectable_of(group, make_content(rows, quality=make_quality([0.3], mse=np.zeros(1)), masks=masks)) is None


def test_the_heatmap_counts_tests_and_findings():
    rows = [make_row(k, finding=k % 3 == 0, class_i="ab"[k % 2], class_j="ca"[k % 2]) for k in range(12)]
    heatmap = heatmap_of(rows, ["a", "b"])
    assert heatmap.classes == ["a", "b", "c"]
    counted = {
        (a, b): (cell.tests, cell.found)
        for a, line in zip("abc", heatmap.cells, strict=True)
        for b, cell in zip("abc", line, strict=True)
        if cell.tests
    }
    assert counted == {("a", "c"): (6, 2), ("b", "a"): (6, 2)}
    assert heatmap.uniform == 6
    assert {cell.shade for line in heatmap.cells for cell in line} == {0, 5}
    assert heatmap_of([make_row(class_i="a", class_j="a")], []) is None
    assert heatmap_of([], ["a", "b"]) is None


def test_with_many_classes_the_heatmap_shows_those_with_the_most_findings():
    rows = [make_row(k, finding=False, class_i=f"c{k:02d}", class_j="z") for k in range(30)]
    rows.append(make_row(99, finding=True, class_i="c29", class_j="c28"))
    heatmap = heatmap_of(rows, [])
    assert len(heatmap.classes) == 20
    assert {"c28", "c29", "z"} <= set(heatmap.classes)
    assert heatmap.left_out == 11
    assert heatmap.uniform == 1


def dots(path):
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", path)]


def test_sorted_pvalues_lie_where_they_belong():
    p = [1e-40, 1e-6, 1e-3, 0.2, 0.5, 1.0, math.nan]
    adjusted = adjust_pvalues(np.array(p), "by")
    rows = [make_row(k, finding=bool(a <= 0.2), pvalue=v) for k, (v, a) in enumerate(zip(p, adjusted, strict=True))]
    plot = plots_of(groups_of(rows)[0].tests, "by", 0.2).sorted
    assert plot.note == "1 p-value below the plot, the smallest 1 × 10⁻⁴⁰."
    assert plot.beyond.count("z") == 1
    assert len(dots(plot.found)) == sum(row.finding for row in rows) - 1 == 2
    assert len(dots(plot.others)) == 3
    line = [tuple(map(float, point.split(" "))) for point in plot.line[1:].split("L")]
    heights = dict(line)
    assert all(y > np.interp(x, *zip(*sorted(heights.items()), strict=True)) for x, y in dots(plot.found))
    assert all(y < np.interp(x, *zip(*sorted(heights.items()), strict=True)) for x, y in dots(plot.others))
    assert dots(plot.others)[-1][1] == 10.0
    assert plots_of([make_row(pvalue=math.nan)], "by", 0.2) is None
    assert plots_of([make_row(pvalue=0.0)], "holm", 0.2).sorted.note.startswith("1 p-value below the plot")


def test_thousands_of_pvalues_are_thinned_and_the_histogram_counts_all():
    p = np.random.default_rng(3).random(5000)
    plots = plots_of(sorted((make_row(0, False, pvalue=float(v)) for v in p), key=lambda r: r.pvalue), "bh", 0.1)
    assert 150 < len(dots(plots.sorted.others)) <= 240
    tops = [float(v) for v in re.findall(r"V([\d.]+)h", plots.histogram.columns)]
    counts = np.histogram(p, 20, (0, 1))[0]
    np.testing.assert_allclose((210 - np.array(tops)) / (210 - plots.histogram.uniform), counts / 250, atol=0.01)
    assert plots.histogram.note == f"{counts[0]} of 5000 lie in the first column, {counts[-1]} in the last."


def test_the_masks_are_drawn_against_their_law():
    check = make_masks(n_train=3000, n_models=500)
    view = mask_view.view_of(check, 500)
    law = np.array([tuple(map(float, point.split(" "))) for point in view.law[1:].split("L")])
    tops = {
        round((float(a) + float(b)) / 2, 1): float(y)
        for a, y, b in re.findall(r"M([\d.]+) 150V([\d.]+)H([\d.]+)V", view.columns)
    }
    seen = np.array([150 - tops.get(round(x, 1), 150.0) for x, _ in law])
    expected = 150 - law[:, 1]
    assert np.abs(seen - expected).max() < 0.15 * expected.max()
    assert seen.sum() == pytest.approx(expected.sum(), rel=0.03)
    assert view.label.startswith("3000 training images by the number of held-out models that saw them: from ")
    assert "where 250 ± 11 are expected" in view.label


def test_the_law_of_the_masks_is_binomial():
    check = make_masks(n_train=400, n_models=18)
    law = mask_view.view_of(check, 18).law
    heights = 150 - np.array([float(point.split(" ")[1]) for point in law[1:].split("L")])
    pmf = binom.pmf(np.arange(19), 18, check.report.proportion)
    np.testing.assert_allclose(heights / heights.sum(), pmf, atol=0.002)


def test_a_logarithmic_spread_has_its_median_between_powers_of_ten():
    columns = log_columns("λ", np.array([1e-3, 1e-2, 1e-1, 0.0, math.nan]))
    spread = distribution_of(columns)
    assert [tick.text for tick in spread.ticks] == ["10⁻³", "0.01", "0.1"]
    assert spread.median.at == pytest.approx((14 + 306) / 2)
    assert spread.note == "One dot a target; not defined for 2 targets."
    assert log_columns("λ", np.array([math.nan])) is None
    assert len(distribution_of(log_columns("λ", np.array([0.5]))).ticks) == 2
