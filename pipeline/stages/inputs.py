"""What the download and fit stages left, as later stages read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.masks import PackedMasks
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels
from pipeline.store.cache import Result
from pipeline.summaries import DownloadSummary, Interval, read_summary


@dataclass(frozen=True)
class Data:
    """What the download stage left in the store; arrays are memory-mapped.

    The rows for the fit (none if weights are loaded and only held-out rows were fetched) and for the test are two runs
    of rows of one file. Without fit rows, the first of the fetched rows tell the coding of the weights, and are not
    tested. Of margins, only some targets' columns may have been kept.
    """

    folder: Path
    rows: DownloadSummary
    held_out: Interval

    @classmethod
    def of(cls, result: Result) -> Data:
        """From the result of the download stage, with all its held-out rows."""
        rows = read_summary(result, DownloadSummary)
        return cls(result.folder, rows, rows.held_out)

    def halves(self) -> tuple[Data, Data]:
        """The same with the first and with the second half of the held-out rows."""
        start, stop = self.held_out
        middle = (start + stop) // 2
        return replace(self, held_out=(start, middle)), replace(self, held_out=(middle, stop))

    @property
    def n_train(self) -> int:
        """The number of training images."""
        return self.rows.n_train

    @property
    def n_targets(self) -> int:
        """The number of targets of the source, with those whose margins were not kept."""
        return self.rows.n_targets

    @property
    def weights_file(self) -> Path | None:
        """Weights that came with the source."""
        return None if self.rows.weights is None else self.folder / self.rows.weights

    @cached_property
    def _masks(self) -> PackedMasks:
        return PackedMasks(np.load(self.folder / self.rows.masks_file, mmap_mode="r"), self.n_train)

    @cached_property
    def _margins(self) -> NDArray[np.float16]:
        margins: NDArray[np.float16] = np.load(self.folder / self.rows.margins_file, mmap_mode="r")
        return margins

    @property
    def fit_masks(self) -> PackedMasks:
        """(fit rows, n_train)."""
        return self._masks.rows(*self.rows.fit)

    @property
    def held_out_masks(self) -> PackedMasks:
        """(held-out rows, n_train)."""
        return self._masks.rows(*self.held_out)

    def coding_rows(self, targets: NDArray[np.int64]) -> tuple[PackedMasks, NDArray[np.float16]]:
        """(masks, margins) of rows that are not tested: the fit rows, or where there are none, some of their own."""
        start, stop = self.rows.fit
        rows = (start, stop) if stop > start else self.rows.coding
        return self._masks.rows(*rows), self._columns(slice(*rows), targets)

    def fit_margins(self, targets: NDArray[np.int64]) -> NDArray[np.float16]:
        """(fit rows, len(targets))."""
        return self._columns(slice(*self.rows.fit), targets)

    def held_out_margins(self, targets: NDArray[np.int64]) -> NDArray[np.float16]:
        """(held-out rows, len(targets))."""
        return self._columns(slice(*self.held_out), targets)

    def _columns(self, rows: slice, targets: NDArray[np.int64]) -> NDArray[np.float16]:
        kept = self.rows.columns
        columns = targets if kept is None else np.array([kept.index(t) for t in targets.tolist()])
        return np.asarray(self._margins[rows][:, columns])

    @cached_property
    def images(self) -> ImageSet | None:
        """Pictures of training images and targets; None where the source has none."""
        path = self.folder / "images.npz"
        return ImageSet.load(path) if path.exists() else None

    @cached_property
    def labels(self) -> Labels | None:
        """Classes of training images and targets; None where they are not known."""
        path = self.folder / "labels.npz"
        return Labels.load(path) if path.exists() else None


def targets_of_class(data: Data, wanted: str, who: str, key: str) -> NDArray[np.int64]:
    """The targets of a class; `who` needs classes at all, and `key` names this one."""
    if data.labels is None:
        raise BadInputError(
            f"{who} draws images by class, but the source has no labels; "
            "give source.images (a cifar-10-batches-py folder, or an .npz that train made) or source.labels."
        )
    names = data.labels.class_names
    if wanted not in names:
        raise BadInputError(f"{key} = {wanted!r} is no class of this data; there are {', '.join(names)}.")
    return np.flatnonzero(data.labels.target_labels == names.index(wanted))


def chosen_targets(data: Data, wanted: str | list[int], key: str) -> NDArray[np.int64]:
    """The targets that a setting names: "all", a class, or their numbers."""
    if wanted == "all":
        return np.arange(data.n_targets)
    if isinstance(wanted, str):
        return targets_of_class(data, wanted, f"{key} = {wanted!r}", key)
    if max(wanted) >= data.n_targets:
        raise BadInputError(f'{key} must be different numbers from 0 to {data.n_targets - 1}, or "all".')
    return np.array(wanted, np.int64)


@dataclass(frozen=True)
class Fitted:
    """What the fit stage left: a datamodel whose column k belongs to target targets[k]."""

    datamodel: Datamodel
    targets: NDArray[np.int64]

    @classmethod
    def of(cls, result: Result) -> Fitted:
        """From the result of the fit stage, whose weights are in mask coding."""
        with np.load(result.folder / "datamodel.npz", allow_pickle=False) as arrays:
            datamodel = Datamodel(arrays["weight"], arrays["bias"], arrays["lam"])
            return cls(datamodel, arrays["targets"])

    def columns(self, targets: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """(n_train, len(targets)): the weights of `targets`, which must be among the fitted ones."""
        return self.datamodel.weight[:, self.places(targets)]

    def places(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where `targets` stand among the fitted ones, which may be in any order."""
        order = np.argsort(self.targets, kind="stable")
        return np.asarray(order[np.searchsorted(self.targets[order], targets)])
