"""The atlas on disk: tiles of some targets each, plain .npy files of float32.

    tile-000000.npy    (2, targets of the tile, n_train): estimates, standard errors

.npy and not Zarr or Arrow: one target is one run of bytes that is mapped and read at once, one training image is a
stride over the targets, and both need no more than numpy. Not compressed: most bits are the digits of noise, and a
compressed file cannot be mapped. 50,000 images × 10,000 targets are 4 GB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.influence import influence_pvalue
from datamodels_inf.internal.checks import Floats, Ints
from pipeline.store.cache import Result
from pipeline.summaries import AtlasSummary, read_summary

Singles = NDArray[np.float32]
TILE_BYTES = 64 * 2**20


def tile_size(n_train: int) -> int:
    """Targets of a tile, a multiple of 16: as many as fill 64 MB."""
    return max(16, TILE_BYTES // (8 * n_train) // 16 * 16)


def tile_name(first: int) -> str:
    """Of the tile whose first target is the `first`-th of the atlas."""
    return f"tile-{first:06d}.npy"


@dataclass(frozen=True, eq=False)
class Atlas:
    """What the atlas stage left; nothing is read before it is asked for."""

    folder: Path
    summary: AtlasSummary

    @classmethod
    def of(cls, result: Result) -> Atlas:
        """Its result."""
        return cls(result.folder, read_summary(result, AtlasSummary))

    @property
    def targets(self) -> Ints:
        """The numbers of the targets, in their order here."""
        return np.array(self.summary.targets, np.int64)

    @cached_property
    def _tiles(self) -> dict[int, Singles]:
        starts = range(0, len(self.summary.targets), self.summary.tile_targets)
        return {first: np.load(self.folder / tile_name(first), mmap_mode="r") for first in starts}

    def of_target(self, place: int) -> tuple[Singles, Singles]:
        """(estimates, standard errors) of all images on the `place`-th target."""
        first = place // self.summary.tile_targets * self.summary.tile_targets
        tile = self._tiles[first][:, place - first]
        return tile[0], tile[1]

    def of_image(self, image: int) -> tuple[Singles, Singles]:
        """(estimates, standard errors) of one image on all targets."""
        columns = np.concatenate([tile[:, :, image] for tile in self._tiles.values()], axis=1)
        return columns[0], columns[1]

    def pvalue(self, estimate: Singles, standard_error: Singles) -> Floats:
        """Of no influence, two-sided, asymptotic."""
        return influence_pvalue(estimate, standard_error, self.summary.n_models)
