"""What stages share: how to show progress, and the inputs that later stages read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.masks import PackedMasks
from pipeline.cache import Result
from pipeline.datasets import ImageSet


@contextmanager
def progress_bar(total: int, unit: str, what: str, quiet: bool) -> Iterator[Any]:
    """A bar with rate and remaining time; none when quiet or when nobody watches."""
    with tqdm(total=total, unit=unit, desc=what, disable=quiet or None, dynamic_ncols=True, leave=False) as bar:
        yield bar.update


@dataclass(frozen=True)
class Data:
    """What the download stage left in the store; arrays are memory-mapped."""

    folder: Path
    n_train: int
    fit_rows: int

    @classmethod
    def of(cls, result: Result) -> Data:
        return cls(result.folder, int(result.summary["n_train"]), int(result.summary["fit_rows"]))

    @cached_property
    def _masks(self) -> PackedMasks:
        return PackedMasks(np.load(self.folder / "masks.npy", mmap_mode="r"), self.n_train)

    @cached_property
    def _margins(self) -> NDArray[np.float16]:
        margins: NDArray[np.float16] = np.load(self.folder / "margins.npy", mmap_mode="r")
        return margins

    @property
    def fit_masks(self) -> PackedMasks:
        return self._masks[: self.fit_rows]

    @property
    def held_out_masks(self) -> PackedMasks:
        return self._masks[self.fit_rows :]

    @property
    def fit_margins(self) -> NDArray[np.float16]:
        return self._margins[: self.fit_rows]

    @property
    def held_out_margins(self) -> NDArray[np.float16]:
        return self._margins[self.fit_rows :]

    @property
    def n_targets(self) -> int:
        return int(self._margins.shape[1])

    @cached_property
    def images(self) -> ImageSet | None:
        path = self.folder / "images.npz"
        return ImageSet.load(path) if path.exists() else None


@dataclass(frozen=True)
class Fitted:
    """What the fit stage left: a datamodel whose column k belongs to target targets[k]."""

    datamodel: Datamodel
    targets: NDArray[np.int64]

    @classmethod
    def of(cls, result: Result) -> Fitted:
        with np.load(result.folder / "datamodel.npz", allow_pickle=False) as arrays:
            datamodel = Datamodel(arrays["weight"], arrays["bias"], arrays["lam"])
            return cls(datamodel, arrays["targets"])
