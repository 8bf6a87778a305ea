"""Tiles in the making: in a folder that outlives a kill, each with its checksum, then linked to the stage's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipeline.errors import WorkStoppedError
from pipeline.places.base import Advance, Work
from pipeline.progress import progress_bar
from pipeline.stages.atlas.tiles import tile_name, tile_size
from pipeline.stages.base import Run
from pipeline.store.files import put_aside, save_array, whole_file
from pipeline.store.unfinished_steps import fits_checksum, note_checksum


@dataclass(frozen=True, eq=False)
class TileFiles:
    """The tiles of n_targets.

    names: the files of a tile, the first the one whose presence says that the tile is done. work: makes their arrays,
    by these names, of a range of targets. what: is made, in words.
    """

    run: Run
    what: str
    n_targets: int
    n_train: int
    names: tuple[str, ...]
    work: Work[range]

    @property
    def size(self) -> int:
        """Targets of a tile."""
        return tile_size(self.n_train)

    def make(self) -> None:
        """All tiles into the stage's folder."""
        unfinished = self.run.unfinished
        unfinished.mkdir(parents=True, exist_ok=True)
        starts = range(0, self.n_targets, self.size)
        kept = sum((unfinished / tile_name(first)).is_file() for first in starts)
        if kept:
            self.run.say(f"going on with {self.what} that was stopped: {kept:,} of {len(starts):,} tiles are done")
        with progress_bar(self.n_targets, "target", self.what.split()[-1], self.run.quiet) as advance:
            for tile, arrays in self.run.place.done(self.work, self._missing(starts, advance), advance):
                for name in self.names[::-1]:
                    _save(unfinished / tile_name(tile.start, name), arrays[name])
        for name in (name for first in starts for name in self._files(first)):
            if not fits_checksum(unfinished / name):  # Hours after it was made, or found.
                raise WorkStoppedError(f"{unfinished / name} was damaged since the command began; run it again.")
            _link(unfinished / name, self.run.out / name)

    def _missing(self, starts: range, advance: Advance) -> Iterator[range]:
        for first in starts:
            tile = range(first, min(first + self.size, self.n_targets))
            if all(self._is_whole(self.run.unfinished / name) for name in self._files(first)):
                advance(len(tile))
            else:
                yield tile

    def _files(self, first: int) -> list[str]:
        return [tile_name(first, name) for name in self.names]

    def _is_whole(self, path: Path) -> bool:
        if not path.is_file():
            return False
        if fits_checksum(path):
            return True
        self.run.say(f"{path} is damaged (its checksum is another one); its targets are estimated again")
        return False


def _save(path: Path, tile: NDArray[Any]) -> None:
    if path.is_dir():
        put_aside(path)
    with whole_file(path) as temporary:
        save_array(temporary, tile)
        note_checksum(path, content=temporary)


def _link(path: Path, place: Path) -> None:
    """The same file once more, so that nothing is lost before the stage is complete; where that cannot be, a copy."""
    try:
        os.link(path, place)
    except OSError:
        shutil.copyfile(path, place)
