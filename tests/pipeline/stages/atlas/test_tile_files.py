"""Tiles in the making: what is whole is kept, what is damaged is made again, and a tile is done with all its files."""

import shutil

import numpy as np
import pytest

from pipeline.errors import WorkStoppedError
from pipeline.places.base import InProcess
from pipeline.stages.atlas import tile_files
from pipeline.stages.atlas.tile_files import TileFiles
from pipeline.stages.atlas.tiles import tile_name


@pytest.fixture
def made(tmp_path, monkeypatch):
    """40 targets of 5 images in tiles of 16; which were estimated, and what was said."""
    monkeypatch.setattr("pipeline.stages.atlas.tiles.TILE_BYTES", 1)
    estimated, said = [], []

    class Given:
        unfinished, out, quiet, say = tmp_path / "unfinished", tmp_path / "out", True, said.append
        place = InProcess(1)

    class Noting:
        def open(self, threads):
            return self

        def __call__(self, tile, advance):
            estimated.append((tile.start, tile.stop))
            return {"tile": np.full((2, len(tile), 5), tile.start), "more": np.array([tile.stop])}

    def make():
        Given.out = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
        Given.out.mkdir()
        TileFiles(Given, "an atlas", 40, 5, ("tile", "more"), Noting()).make()
        return Given.out

    return make, estimated, said, Given.unfinished


def test_all_tiles_are_made_once(made):
    make, estimated, said, _ = made
    out = make()
    assert estimated == [(0, 16), (16, 32), (32, 40)]
    assert not said
    assert sorted(path.name for path in out.iterdir()) == sorted(
        tile_name(first, name) for first in (0, 16, 32) for name in ("tile", "more")
    )
    assert np.load(out / "tile-000032.npy").shape == (2, 8, 5)
    assert np.load(out / "more-000016.npy").tolist() == [32]


@pytest.mark.parametrize("name", ("tile", "more"))
def test_what_is_damaged_is_made_again_and_what_is_whole_is_not(made, name):
    make, estimated, said, unfinished = made
    make()
    estimated.clear()
    path = unfinished / tile_name(16, name)
    path.write_bytes(path.read_bytes()[:-3])
    out = make()
    assert estimated == [(16, 32)]
    assert "going on with an atlas that was stopped: 3 of 3 tiles are done" in said
    assert f"{path} is damaged (its checksum is another one); its targets are estimated again" in said
    assert np.load(out / tile_name(16, name)).size


def test_a_tile_counts_as_done_when_all_its_files_are_there(made):
    make, estimated, _, unfinished = made
    make()
    estimated.clear()
    (unfinished / "more-000000.npy").unlink()
    make()
    assert estimated == [(0, 16)]


def test_a_tile_copied_from_another_is_made_again(made):
    """With its checksum, and of the same shape."""
    make, estimated, said, unfinished = made
    make()
    estimated.clear()
    for suffix in (".npy", ".sha256"):
        (unfinished / f"tile-000016{suffix}").unlink()  # Else its content would change in the stage's folder too.
        shutil.copy(unfinished / f"tile-000000{suffix}", unfinished / f"tile-000016{suffix}")
    out = make()
    assert estimated == [(16, 32)]
    assert np.load(out / "tile-000016.npy").max() == 16
    assert any("tile-000016.npy is damaged" in line for line in said)


def test_a_tile_that_is_damaged_while_others_are_made_is_not_linked(made, monkeypatch):
    make, _, _, unfinished = made
    make()
    (unfinished / "more-000032.npy").unlink()  # One is to be made again.
    save = tile_files._save

    def harm(path, tile):
        save(path, tile)
        (unfinished / "tile-000000.npy").write_bytes(b"harmed")

    monkeypatch.setattr(tile_files, "_save", harm)
    with pytest.raises(WorkStoppedError, match=r"tile-000000\.npy was damaged since the command began; run it again"):
        make()
