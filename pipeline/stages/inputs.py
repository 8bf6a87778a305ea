"""What the download and fit stages left, as later stages read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.mapped import forget_pages
from datamodels_inf.masks import PackedMasks
from datamodels_inf.row_blocks import RowRange, block_ends
from datamodels_inf.targets import Target, prepare_targets
from pipeline.arrays import map_npy, open_npz
from pipeline.config import Config, Test
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels
from pipeline.images.item_names import ItemNames
from pipeline.store.cache import Result
from pipeline.summaries import DownloadSummary, FitSummary, read_summary
from pipeline.text.given_names import listed
from pipeline.text.nouns import noun_of

MARGINS_AT_ONCE = 16_384
"""Rows of margins that are in memory at a time, with all their targets: 330 MB of 10,000."""


class Described(Protocol):
    """What must be known of a source to say whether a design can be drawn: no rows."""

    @property
    def n_train(self) -> int:
        """Training images."""

    @property
    def n_targets(self) -> int:
        """Targets."""

    @property
    def labels(self) -> Labels | None:
        """Classes, where they are known."""

    @property
    def names(self) -> ItemNames:
        """What single images and targets are called."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a helper raises the outcome."""


class Divided(Described, Protocol):
    """The same with masks, of the rows for the fit and of those to be tested."""

    @property
    def fit_masks(self) -> PackedMasks:
        """(fit rows, n_train)."""

    @property
    def held_out_masks(self) -> PackedMasks:
        """(held-out rows, n_train)."""


@dataclass(frozen=True)
class Block:
    """Tested rows, and which of the fitted datamodels may test them: the one of prefix number `prefix`."""

    rows: RowRange
    prefix: int


@dataclass(frozen=True)
class Data:
    """What the download stage left in the store; arrays are memory-mapped.

    The rows for the fit (none if weights are loaded and only held-out rows were fetched) and for the test are two runs
    of rows of one file. Without fit rows, the first of the fetched rows tell the coding of the weights, and are not
    tested. Of margins, only some targets' columns may have been kept.
    """

    folder: Path
    rows: DownloadSummary
    held_out: RowRange
    config: Config

    def __getstate__(self) -> dict[str, Any]:
        """What travels to a worker, which opens the files itself: fields and no arrays, and a path for any process."""
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, "folder": self.folder.absolute()}

    @classmethod
    def of(cls, result: Result, config: Config) -> Data:
        """From the result of the download stage, with all its held-out rows."""
        rows = read_summary(result, DownloadSummary)
        return cls(result.folder, rows, rows.held_out, config)

    def halves(self) -> tuple[Data, Data]:
        """The same with the first and with the second half of the held-out rows; of several blocks, of whole ones."""
        start, stop = self.held_out
        middle = (start + stop) // 2
        if len(self.blocks) > 1:
            middle = min((block.rows[0] for block in self.blocks[1:]), key=lambda row: abs(row - middle))
        return replace(self, held_out=(start, middle)), replace(self, held_out=(middle, stop))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The held-out rows: one block, or where every model tests, each with a fit of all rows before it."""
        start, stop = self.held_out
        parts = [(max(b.rows[0], start), min(b.rows[1], stop), b.prefix) for b in _blocks(self.rows, self.config.test)]
        return tuple(Block((first, last), prefix) for first, last, prefix in parts if first < last)

    @property
    def n_train(self) -> int:
        """The number of training images."""
        return self.rows.n_train

    @property
    def n_targets(self) -> int:
        """The number of targets of the source, with those whose margins were not kept."""
        return self.rows.n_targets

    @property
    def higher_is_better(self) -> bool:
        """Whether a helper raises the outcome."""
        return self.rows.higher_is_better

    @property
    def noun(self) -> str:
        """What is trained on: "image" where it is known to be one, else "item"."""
        return noun_of(are_images=self.rows.has_images or self.rows.awaits_images)

    @property
    def weights_file(self) -> Path | None:
        """Weights that came with the source."""
        return None if self.rows.weights is None else self.folder / self.rows.weights

    @cached_property
    def _masks(self) -> PackedMasks:
        return PackedMasks(map_npy(self.folder / self.rows.masks_file), self.n_train)

    @cached_property
    def _margins(self) -> NDArray[np.float16]:
        margins: NDArray[np.float16] = map_npy(self.folder / self.rows.margins_file)
        return margins

    @property
    def fit_masks(self) -> PackedMasks:
        """(fit rows, n_train)."""
        return self._masks.rows(*self.rows.fit)

    @property
    def held_out_masks(self) -> PackedMasks:
        """(held-out rows, n_train)."""
        return self._masks.rows(*self.held_out)

    def tested_rows(self, every_model: bool) -> int:
        """How many rows a method tests that combines blocks, or else is tested on the last alone."""
        blocks = self.blocks if every_model else self.blocks[-1:]
        return sum(block.rows[1] - block.rows[0] for block in blocks)

    def block_masks(self, block: Block) -> PackedMasks:
        """(rows of the block, n_train)."""
        return self._masks.rows(*block.rows)

    def block_margins(self, block: Block, targets: NDArray[np.int64]) -> NDArray[np.float16]:
        """(rows of the block, len(targets))."""
        return self._columns(slice(*block.rows), targets)

    def prefix(self, block: Block) -> tuple[PackedMasks, Callable[[NDArray[np.int64]], NDArray[np.float16]]]:
        """(masks, margins of some targets) of all rows before a block: what its datamodel may be fitted on.

        Of the first, the fit rows: others may lie between them and the held-out ones.
        """
        rows = self.rows.fit[0], block.rows[0] if block.prefix else self.rows.fit[1]
        return self._masks.rows(*rows), lambda targets: self._columns(slice(*rows), targets)

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
        margins = self._margins[rows]
        wanted = np.empty((len(margins), len(columns)), margins.dtype)
        for start in range(0, len(margins), MARGINS_AT_ONCE):
            some = slice(start, start + MARGINS_AT_ONCE)
            wanted[some] = margins[some, columns]
            forget_pages(margins)  # A few columns of a row-major file touch all its pages: 6 GB of 10,000 targets.
        return wanted

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

    @cached_property
    def names(self) -> ItemNames:
        """What single training images and targets are called; most sources call them nothing."""
        return ItemNames.load(self.folder / "names.json") if self.rows.has_names else ItemNames()


def targets_of_class(data: Described, wanted: str, who: str, key: str, instead: str = "") -> NDArray[np.int64]:
    """The targets of a class; `who` needs classes at all, and `key` names this one. instead: what needs none."""
    if data.labels is None:
        raise BadInputError(
            f"{who} draws images by class, but the source has no labels; "
            "give source.images (a cifar-10-batches-py folder, or an .npz that train made) or source.labels"
            f"{f', or {instead}' if instead else ''}."
        )
    names = data.labels.class_names
    if wanted not in names:
        raise BadInputError(f"{key} = {wanted!r} is no class of this data; there are {listed(names)}.")
    return np.flatnonzero(data.labels.target_labels == names.index(wanted))


def chosen_targets(data: Described, wanted: str | list[int], key: str) -> NDArray[np.int64]:
    """The targets that a setting names: "all", a class, one by its own name, or their numbers."""
    if wanted == "all":
        return np.arange(data.n_targets)
    if isinstance(wanted, str):
        classes = () if data.labels is None else data.labels.class_names
        if wanted in data.names.targets and wanted not in classes:
            return np.flatnonzero(np.array(data.names.targets) == wanted)
        return targets_of_class(data, wanted, f"{key} = {wanted!r}", key)
    if max(wanted) >= data.n_targets:
        raise BadInputError(f'{key} must be different numbers from 0 to {data.n_targets - 1}, or "all".')
    return np.array(wanted, np.int64)


def _blocks(rows: DownloadSummary, test: Test) -> tuple[Block, ...]:
    """The tested rows in the blocks of `[test]`; `rows.fit` ends where they begin."""
    start, stop = rows.held_out
    if not test.progressive:
        return (Block((start, stop), 0),)
    try:
        ends = block_ends(stop - rows.fit[0], start - rows.fit[0], test.blocks)
    except ValueError as error:
        raise BadInputError(f"the rows cannot be tested in blocks (test.blocks): {error}") from error
    bounds = [*(rows.fit[0] + end for end in ends), stop]
    return tuple(Block(pair, k) for k, pair in enumerate(pairwise(bounds)))


@dataclass(frozen=True)
class Fitted:
    """What the fit stage left: datamodels whose column k belongs to target targets[k], in mask coding.

    One, or where every model tests, one for each prefix of rows, the longest last.
    """

    datamodels: Sequence[Datamodel]
    targets: NDArray[np.int64]

    @classmethod
    def of(cls, result: Result) -> Fitted:
        """From the result of the fit stage."""
        files = datamodel_files(result.folder, read_summary(result, FitSummary).n_prefixes)
        with open_npz(files[-1]) as arrays:
            return cls(_Lazy(files), arrays["targets"])

    @property
    def datamodel(self) -> Datamodel:
        """That of the most rows."""
        return self.datamodels[-1]

    @property
    def first(self) -> Datamodel:
        """That of the rows that are never tested: what a design may be drawn by."""
        return self.datamodels[0]

    def columns(self, targets: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """(n_train, len(targets)): the weights of `targets`, which must be among the fitted ones, by the most rows."""
        return self.datamodel.weight[:, self.places(targets)]

    def places(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where `targets` stand among the fitted ones, which may be in any order."""
        order = np.argsort(self.targets, kind="stable")
        return np.asarray(order[np.searchsorted(self.targets[order], targets)])


def datamodel_files(folder: Path, n_prefixes: int) -> tuple[Path, ...]:
    """Of each prefix of rows, the longest last: that is the one for further use."""
    return (*(folder / f"datamodel-{k}.npz" for k in range(n_prefixes - 1)), folder / "datamodel.npz")


def tested_targets(
    data: Data, fitted: Fitted, targets: NDArray[np.int64], threads: int = 1
) -> Iterator[tuple[Target, ...]]:
    """Of each of `targets` its blocks, each with the datamodel that may test it."""
    places = fitted.places(targets)
    blocks = [
        prepare_targets(
            data.block_masks(block),
            data.block_margins(block, targets),
            fitted.datamodels[block.prefix].subset(places),
            threads=threads,
        )
        for block in data.blocks
    ]
    return zip(*blocks, strict=True)


class _Lazy(Sequence[Datamodel]):
    """Datamodels of files, each read when it is first asked for."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._read: dict[int, Datamodel] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Paths for any process, and nothing that was read."""
        return {"_files": [file.absolute() for file in self._files], "_read": {}}

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> Datamodel: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Datamodel]: ...
    def __getitem__(self, index: int | slice) -> Datamodel | Sequence[Datamodel]:
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        place = range(len(self))[index]
        if place not in self._read:
            with open_npz(self._files[place]) as arrays:
                self._read[place] = Datamodel(arrays["weight"], arrays["bias"], arrays["lam"])
        return self._read[place]
