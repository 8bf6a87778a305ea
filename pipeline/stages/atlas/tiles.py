"""An atlas on disk, or the evidence of the fit rows: tiles of some targets each, plain .npy files of float32.

    tile-000000.npy    (2, targets of the tile, n_train): estimates, standard errors
    tails-000000.npy   (targets of the tile, 2, 2, points), where masks do not hold half of the images: `Tail`, float64

.npy and not Zarr or Arrow: one target is one run of bytes that is mapped and read at once, one training image is a
stride over the targets, and both need no more than numpy. Not compressed: most bits are the digits of noise, and a
compressed file cannot be mapped. 50,000 images × 10,000 targets are 4 GB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.influence import influence_pvalue
from datamodels_inf.influence_tail import Tail
from datamodels_inf.internal.checks import Floats, Ints
from pipeline.arrays import map_npy
from pipeline.store.cache import Result
from pipeline.summaries import AtlasSummary, TiledSummary, read_summary

Singles = NDArray[np.float32]
TILE_BYTES = 64 * 2**20


def tile_size(n_train: int) -> int:
    """Targets of a tile, a multiple of 16: as many as fill 64 MB."""
    return max(16, TILE_BYTES // (8 * n_train) // 16 * 16)


def tile_name(first: int, name: str = "tile") -> str:
    """Of the tile whose first target is the `first`-th of the atlas; `name` is "tails" for the tails of its law."""
    return f"{name}-{first:06d}.npy"


@dataclass(frozen=True, eq=False)
class Tiled:
    """Estimates and standard errors of all images on some targets; nothing is read before it is asked for."""

    folder: Path
    summary: TiledSummary

    @cached_property
    def targets(self) -> Ints:
        """The numbers of the targets, in their order here."""
        return np.array(self.summary.targets, np.int64)

    def _open(self, first: int, name: str = "tile") -> Singles:
        """One file at a time is mapped: what is mapped counts as memory in use."""
        tile: Singles = map_npy(self.folder / tile_name(first, name))
        return tile

    def _first(self, place: int) -> int:
        return place // self.summary.tile_targets * self.summary.tile_targets

    def of_target(self, place: int) -> tuple[Singles, Singles]:
        """(estimates, standard errors) of all images on the `place`-th target."""
        tile = self._open(self._first(place))[:, place - self._first(place)]
        return tile[0], tile[1]

    def of_image(self, image: int) -> tuple[Singles, Singles]:
        """(estimates, standard errors) of one image on all targets."""
        starts = range(0, len(self.summary.targets), self.summary.tile_targets)
        columns = np.concatenate([np.array(self._open(first)[:, :, image]) for first in starts], axis=1)
        return columns[0], columns[1]


@dataclass(frozen=True, eq=False)
class Atlas(Tiled):
    """What the atlas stage left."""

    summary: AtlasSummary

    @classmethod
    def of(cls, result: Result) -> Atlas:
        """From the result of the atlas stage."""
        return cls(result.folder, read_summary(result, AtlasSummary))

    def tail(self, place: int) -> Tail | None:
        """That of the `place`-th target, where its law needs one."""
        if not self.summary.tails:
            return None
        places, deviates = self._open(self._first(place), "tails")[place - self._first(place)].astype(np.float64)
        return Tail(places, deviates)

    def pvalue(self, place: int, estimate: NDArray[Any], standard_error: NDArray[Any]) -> Floats:
        """Of no influence on the `place`-th target, two-sided, asymptotic."""
        return influence_pvalue(estimate, standard_error, self.summary.n_models, self.tail(place))

    def pvalues_of_image(self, estimate: Singles, standard_error: Singles) -> Floats:
        """The same of one image, an entry for each target."""
        rows = enumerate(zip(estimate, standard_error, strict=True))
        return np.array([float(self.pvalue(place, *map(np.atleast_1d, row))[0]) for place, row in rows])
