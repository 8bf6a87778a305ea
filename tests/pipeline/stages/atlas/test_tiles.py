"""Tiles of the atlas: the library's numbers, whichever way they are read."""

import numpy as np
import pytest
from small_atlas import TARGETS, by_library

from pipeline.stages.atlas.tiles import TILE_BYTES, tile_name, tile_size


@pytest.mark.parametrize(("n_train", "size"), [(400, 20960), (50_000, 160), (10**6, 16), (10**8, 16)])
def test_a_tile_is_a_multiple_of_16_targets_of_at_most_64_mb(n_train, size):
    assert tile_size(n_train) == size
    assert size == 16 or 8 * n_train * size <= TILE_BYTES < 8 * n_train * (size + 16)


def test_tiles_hold_what_the_library_estimates(atlas, source, store):
    assert sorted(path.name for path in atlas.folder.glob("tile*.npy")) == [tile_name(first) for first in (0, 16, 32)]
    assert atlas.targets.tolist() == list(range(TARGETS))
    for place in range(TARGETS):
        estimate, error = atlas.of_target(place)
        expected = by_library(source, store, place)
        assert estimate.dtype == error.dtype == np.float32
        np.testing.assert_array_equal(estimate, expected.estimate.astype(np.float32))
        np.testing.assert_array_equal(error, expected.standard_error.astype(np.float32))
        np.testing.assert_allclose(atlas.pvalue(place, estimate, error), expected.pvalue, rtol=1e-3)


def test_by_target_by_image_and_by_tile_agree(atlas):
    rows = np.stack([atlas.of_target(place) for place in range(TARGETS)], axis=1)
    columns = np.stack([atlas.of_image(image) for image in range(rows.shape[2])], axis=2)
    np.testing.assert_array_equal(rows, columns)
    tiles = [np.load(path) for path in sorted(atlas.folder.glob("tile-*.npy"))]
    assert [tile.shape[1] for tile in tiles] == [16, 16, 8]
    np.testing.assert_array_equal(np.concatenate(tiles, axis=1), rows)


def test_a_target_is_read_from_the_map_and_not_into_memory(atlas):
    estimate, _ = atlas.of_target(20)
    assert isinstance(estimate, np.memmap)
    assert estimate.flags.c_contiguous
