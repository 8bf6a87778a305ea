"""Curves show what the tests compare."""

import numpy as np
import pytest
from report_content import make_row

from datamodels_inf import SquaredResidual, contrast, paired_swap_test, swap_test
from datamodels_inf.internal.comparison import halves, swap_columns
from datamodels_inf.methods import SCORES
from pipeline.report.evidence.curves import curve_of, curves_of

METHODS = ("swap", "swap-exact", "paired", "contrast")


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
