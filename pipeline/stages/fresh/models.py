"""What the fresh stage left, whole or in halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from datamodels_inf.masks import PackedMasks
from pipeline.arrays import map_npy
from pipeline.store.cache import Result
from pipeline.summaries import FreshSummary, read_summary


@dataclass(frozen=True, eq=False)
class FreshModels:
    """margins: (models, targets of the source), memory-mapped."""

    masks: PackedMasks
    margins: NDArray[np.float32]

    @classmethod
    def of(cls, result: Result) -> FreshModels:
        """From the result of the fresh stage."""
        summary = read_summary(result, FreshSummary)
        bits, margins = (map_npy(result.folder / f"{name}.npy") for name in ("masks", "margins"))
        return cls(PackedMasks(bits, summary.n_train), margins)

    def __len__(self) -> int:
        return self.masks.n_models

    def take(self, rows: Ints) -> FreshModels:
        """These models alone."""
        return FreshModels(PackedMasks(self.masks.bits[rows], self.masks.n_train), self.margins[rows])

    def splits(self, count: int, seed: int) -> Iterator[tuple[FreshModels, FreshModels]]:
        """So many times two random halves; of an odd number, one model is in neither."""
        rng, half = np.random.default_rng(seed), len(self) // 2
        for _ in range(count):
            order = rng.permutation(len(self))
            yield self.take(np.sort(order[:half])), self.take(np.sort(order[half : 2 * half]))
