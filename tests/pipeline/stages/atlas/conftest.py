"""A source, and its atlas of all targets in three tiles."""

import pytest
from small_atlas import ALL, atlas_of, write_source

from pipeline.stages.atlas import tiles


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """24 images and 40 targets, 500 held-out models."""
    return write_source(tmp_path_factory.mktemp("source"))


@pytest.fixture
def small_tiles(monkeypatch):
    """16 targets a tile, the fewest."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 1)


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def atlas(source, store, small_tiles):
    """Made once, in tiles of 16, 16 and 8 targets."""
    return atlas_of(source, store, ALL)
