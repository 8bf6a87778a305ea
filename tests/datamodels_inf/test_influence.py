"""`influence` and `influence_atlas` against the formula in plain numpy, and against each other to the bit."""

import numpy as np
import pytest

from datamodels_inf import Datamodel, PackedMasks, influence, influence_atlas
from datamodels_inf.atlas import AtlasMaker, tile_targets


def naive(x, y, theta, bias):
    """METHOD 12, line by line: (Δ̂, SE) of every image."""
    n, d = x.shape
    x, size = x.astype(float), x.sum(axis=1)
    e = y - bias - x @ theta
    e -= e.mean()
    kappa = np.mean(size * (d - size) / d**2)
    g = (x - size[:, None] / d) * e[:, None]
    others = (theta.sum() - theta) / (d - 1)
    return theta - others + g.mean(axis=0) / kappa, g.std(axis=0, ddof=1) / np.sqrt(n) / kappa


def masks_of(law, n, d, rng):
    if law == "coins":
        return rng.random((n, d)) < 0.3
    share = {"half": d // 2, "tenth": d // 10, "most": 3 * d // 4}[law]
    return rng.permuted(np.tile(np.arange(d) < share, (n, 1)), axis=1)


LAWS = ("half", "tenth", "most", "coins")


def problem(law, n=333, d=76, targets=37, seed=0):
    rng = np.random.default_rng(seed)
    x = masks_of(law, n, d, rng)
    theta = rng.standard_normal((d, targets)) * (rng.random((d, targets)) < 0.5)
    bias = rng.standard_normal(targets)
    y = (0.5 * x @ theta + rng.standard_normal((n, targets))).astype(np.float16)
    return x, y, Datamodel(theta, bias, np.full(targets, np.nan))


def joined(tiles):
    tiles = list(tiles)
    return np.concatenate([t.estimate for t in tiles]), np.concatenate([t.standard_error for t in tiles]), tiles


@pytest.mark.parametrize("law", LAWS)
def test_equal_to_the_formula(law):
    x, y, fitted = problem(law)
    estimate, error, _ = joined(influence_atlas(x, y, fitted))
    for t in range(fitted.n_targets):
        expected = naive(x, y[:, t].astype(float), fitted.weight[:, t], fitted.bias[t])
        np.testing.assert_allclose(estimate[t], expected[0], rtol=0, atol=1e-11)
        np.testing.assert_allclose(error[t], expected[1], rtol=0, atol=1e-11)


@pytest.mark.parametrize("law", LAWS)
def test_any_tiling_and_any_threads_give_the_same_bytes(law):
    x, y, fitted = problem(law)
    whole = joined(influence_atlas(x, y, fitted))
    for options in ({"memory_gb": 1e-9}, {"threads": 2}, {"memory_gb": 1e-9, "threads": 3}):
        parts = joined(influence_atlas(PackedMasks.from_bool(x), y, fitted, **options))
        assert all(np.array_equal(a, b) for a, b in zip(whole[:2], parts[:2], strict=True))
    tiles = list(influence_atlas(x, y, fitted, memory_gb=1e-9))
    assert [tile.targets for tile in tiles] == [range(16), range(16, 32), range(32, 37)]
    maker = AtlasMaker(PackedMasks.from_bool(x))
    rest = maker.tile(range(5, 29), y[:, 5:29], fitted.subset(range(5, 29)))
    assert np.array_equal(rest.estimate, whole[0][5:29]) and np.array_equal(rest.standard_error, whole[1][5:29])


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


def test_signed_datamodels_are_decoded():
    x, y, fitted = problem("half")
    signed = Datamodel(fitted.weight / 2, fitted.bias + fitted.weight.sum(axis=0) / 2, fitted.lam, "signed")
    plain, coded = (joined(influence_atlas(x, y, model))[0] for model in (fitted, signed))
    np.testing.assert_allclose(plain, coded, atol=1e-12)


def test_masks_of_one_size_give_a_difference_of_means():
    """E[y | i in] − E[y | i out], which for θ̂ = 0 is about the plain difference of means."""
    x, y, _ = problem("half", n=4000)
    margins = y[:, 0].astype(float)
    found = influence(x, margins, theta=np.zeros(x.shape[1]))
    means = [margins[x[:, i]].mean() - margins[~x[:, i]].mean() for i in range(x.shape[1])]
    np.testing.assert_allclose(found.estimate, means, atol=0.2 * found.standard_error.min())


def test_interval_and_pvalue_say_the_same():
    x, y, fitted = problem("coins")
    for confidence in (0.5, 0.95, 0.999):
        found = influence(x, y[:, 1], theta=fitted.weight[:, 1], confidence=confidence)
        low, high = found.interval
        assert np.array_equal((low > 0) | (high < 0), found.pvalue < 1 - confidence)
        assert np.all((low < found.estimate) & (found.estimate < high))


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


def test_memory_bounds_the_tiles():
    assert tile_targets(10_000, 50_000, 2.0, 2) % 16 == 0
    sizes = [tile_targets(10_000, 50_000, gb, 2) for gb in (0.1, 1.0, 2.0, 8.0)]
    assert sizes[0] == 16 and sizes == sorted(sizes) and sizes[-1] > 1000


@pytest.mark.parametrize(
    ("change", "sentence"),
    (
        ({"margins": np.full(333, np.nan)}, "`margins` must be 333 finite numbers"),
        ({"margins": np.zeros(5)}, r"`margins` must be 333 finite numbers, but its shape is \(5,\)"),
        ({"theta": np.zeros(3)}, "`theta` must be 76 finite numbers"),
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


def test_targets_with_nan_are_named():
    x, y, fitted = problem("half")
    y[7, 20] = y[9, 36] = np.nan
    with pytest.raises(ValueError, match="those of target 20, 36 are not"):
        list(influence_atlas(x, y, fitted))
    with pytest.raises(ValueError, match="`margins` must have shape"):
        influence_atlas(x, y[:, :3], fitted)
    with pytest.raises(ValueError, match="`memory_gb`"):
        influence_atlas(x, y, fitted, memory_gb=0)
    with pytest.raises(ValueError, match="`masks` must have 76 columns"):
        list(influence_atlas(x[:, :70], y, fitted))
