"""`influence_atlas` against the formula in plain numpy, in any tiling."""

import numpy as np
import pytest
from influence_problems import LAWS, joined, naive, problem

from datamodels_inf import Datamodel, PackedMasks, influence_atlas
from datamodels_inf.atlas import AtlasMaker, tile_targets


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
    rest = maker.tile(range(5, 29), y[:, 5:29], [fitted.subset(range(5, 29))])
    assert np.array_equal(rest.estimate, whole[0][5:29]) and np.array_equal(rest.standard_error, whole[1][5:29])


def test_signed_datamodels_are_decoded():
    x, y, fitted = problem("half")
    signed = Datamodel(fitted.weight / 2, fitted.bias + fitted.weight.sum(axis=0) / 2, fitted.lam, "signed")
    plain, coded = (joined(influence_atlas(x, y, model))[0] for model in (fitted, signed))
    np.testing.assert_allclose(plain, coded, atol=1e-12)


def test_memory_bounds_the_tiles():
    assert tile_targets(10_000, 50_000, 2.0, 2) % 16 == 0
    sizes = [tile_targets(10_000, 50_000, gb, 2) for gb in (0.1, 1.0, 2.0, 8.0)]
    assert sizes[0] == 16 and sizes == sorted(sizes) and sizes[-1] > 1000


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
