"""`influence` of one target: a row of the atlas, to the bit, and what it says of itself."""

import numpy as np
import pytest
from influence_problems import LAWS, joined, problem

from datamodels_inf import Datamodel, influence, influence_atlas, rank_intervals


@pytest.mark.parametrize("law", LAWS)
def test_one_target_is_a_row_of_the_atlas(law):
    x, y, fitted = problem(law)
    estimate, error, tiles = joined(influence_atlas(x, y, fitted))
    for t in (0, 20, 36):
        one = influence(x, y[:, t], theta=fitted.weight[:, t], bias=fitted.bias[t], threads=2)
        assert np.array_equal(one.estimate, estimate[t]) and np.array_equal(one.standard_error, error[t])
        assert np.array_equal(one.pvalue, tiles[0].pvalue[t])
        some = influence(x, y[:, t], theta=fitted.weight[:, t], bias=fitted.bias[t], images=[60, 3])
        assert some.images.tolist() == [60, 3] and np.array_equal(some.estimate, estimate[t][[60, 3]])


def test_masks_of_one_size_give_a_difference_of_means():
    """E[y | i in] − E[y | i out], which for θ̂ = 0 is about the plain difference of means."""
    x, y, _ = problem("half", n=4000)
    margins = y[:, 0].astype(float)
    found = influence(x, margins, theta=np.zeros(x.shape[1]))
    means = [margins[x[:, i]].mean() - margins[~x[:, i]].mean() for i in range(x.shape[1])]
    np.testing.assert_allclose(found.estimate, means, atol=0.2 * found.standard_error.min())


@pytest.mark.parametrize("law", LAWS)
def test_interval_and_pvalue_say_the_same(law):
    x, y, fitted = problem(law)
    for confidence in (0.5, 0.95, 0.999):
        found = influence(x, y[:, 1], theta=fitted.weight[:, 1], confidence=confidence)
        low, high = found.interval
        apart, small = (low > 0) | (high < 0), found.pvalue < 1 - confidence
        assert np.array_equal(apart, small) if law == "half" else np.all(apart | ~small)  # The tail may say more.
        assert np.all((low < found.estimate) & (found.estimate < high))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("power", (-1020, -600, 500, 1000))
def test_the_unit_of_the_margins_changes_nothing(law, power):
    """Where squares of residuals would be 0, each image would have p = 0; where they would be infinite, p = 1."""
    x, y, _ = problem(law)
    margins, unit, zeros = y[:, 0].astype(float), 2.0**power, np.zeros(x.shape[1])
    plain, moved = influence(x, margins, theta=zeros), influence(x, unit * margins, theta=zeros)
    np.testing.assert_allclose(moved.pvalue, plain.pvalue, rtol=1e-12)
    np.testing.assert_allclose(moved.estimate / unit, plain.estimate, rtol=1e-12)
    np.testing.assert_allclose(moved.standard_error / unit, plain.standard_error, rtol=1e-12)
    nothing = Datamodel(zeros[:, None], np.zeros(1), np.zeros(1))
    (tile,) = influence_atlas(x, unit * margins[:, None], nothing)
    assert np.array_equal(tile.pvalue[0], moved.pvalue)
    some = np.argsort(-plain.estimate)[:3]
    for end in ("low", "high"):
        ranks = [getattr(rank_intervals(x, y, theta=zeros, images=some), end) for y in (margins, unit * margins)]
        assert np.array_equal(*ranks)


def test_an_image_that_all_models_saw_is_not_known():
    x, y, _ = problem("coins")
    x[:, 4], x[:, 9] = True, False
    found = influence(x, y[:, 0], theta=np.zeros(x.shape[1]))
    assert np.flatnonzero(np.isinf(found.standard_error)).tolist() == [4, 9]
    assert found.pvalue[[4, 9]].tolist() == [1.0, 1.0]
    assert found.interval[0][4] == -np.inf and found.interval[1][9] == np.inf


def test_margins_that_do_not_vary_show_nothing():
    x, _, _ = problem("half")
    found = influence(x, np.full(len(x), 2.5), theta=np.zeros(x.shape[1]))
    assert not found.estimate.any() and np.all(found.pvalue == 1.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    (
        ({"margins": np.full(333, np.nan)}, "`margins` must be finite"),
        ({"margins": np.zeros(5)}, r"`margins` must be a vector of length 333, but its shape is \(5,\)"),
        ({"margins": np.full(333, 1e308)}, "`margins` must be smaller"),
        ({"theta": np.zeros(3)}, "`theta` must be a vector of length 76"),
        ({"bias": np.inf}, "`bias`"),
        ({"confidence": 1.0}, "`confidence`"),
        ({"images": [76]}, r"`images` must lie in 0..75"),
        ({"masks": np.ones((333, 76), bool)}, "no image is ever in one and out of another"),
        ({"masks": np.eye(2, dtype=bool), "margins": np.zeros(2), "theta": np.zeros(2)}, "at least 3 rows"),
    ),
)
def test_bad_input_is_named(change, sentence):
    x, y, _ = problem("half")
    given = {"masks": x, "margins": y[:, 0], "theta": np.zeros(x.shape[1]), **change}
    with pytest.raises(ValueError, match=sentence):
        influence(given.pop("masks"), given.pop("margins"), **given)
