"""Curves and galleries show what the tests compare."""

import numpy as np
import pytest
from report_content import make_row

from datamodels_inf import PackedMasks, SquaredResidual, contrast, paired_swap_test, swap_test
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.comparison import halves, swap_columns
from datamodels_inf.methods import SCORES
from pipeline.report.drawing.dominance_curve import curve_view
from pipeline.report.evidence.curves import HeldOut, curve_of, curves_of
from pipeline.report.evidence.galleries import galleries_of

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
