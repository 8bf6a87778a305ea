"""How the masks of some rows are read, whatever form they have on disk: numbers, bits, or lists of images.

Each form answers `bits(rows)` with the packed masks of these rows, and reads no more than them: a caller asks for
`CHUNK_ROWS` at a time, and nothing is made dense for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import some_of
from pipeline.errors import BadInputError

CHUNK_ROWS = 2048
"""Rows that are unpacked or packed together."""
DENSE_CELLS = 2**22
"""Of lists, so many cells of masks are dense at a time: with the numbers of their images some 70 MB."""


class MaskRows(Protocol):
    """Masks of `n_models` models over `n_train` images."""

    @property
    def n_models(self) -> int:
        """Rows."""

    @property
    def n_train(self) -> int:
        """Images, so columns."""

    def bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """(len(rows), ceil(n_train / 8)), as `np.packbits(masks[rows], axis=1)` gives it."""


@dataclass(frozen=True, eq=False)
class NumberRows:
    """(n_models, n_train) of bool, or of 0 and 1 in any type of number."""

    name: str
    array: NDArray[Any]

    @property
    def n_models(self) -> int:
        """Rows."""
        return len(self.array)

    @property
    def n_train(self) -> int:
        """Columns."""
        return int(self.array.shape[1])

    def bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Packed here; rows that hold anything but 0 and 1 are refused, with the first place."""
        some = np.asarray(self.array[rows])
        if some.dtype != np.bool_:
            wrong = ~((some == 0) | (some == 1))
            if wrong.any():
                row, column = (int(place[0]) for place in np.nonzero(wrong))
                raise BadInputError(
                    f"{self.name} must hold nothing but 0 and 1, but it holds {some[row, column]} in row {rows[row]}, "
                    f"column {column}; packed bits need n_train in subsets.json."
                )
            some = some != 0
        return np.packbits(some, axis=1)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """(n_models, ceil(n_train / 8)) uint8, eight images a byte in the order of `np.packbits`."""

    name: str
    array: NDArray[np.uint8]
    n_train: int

    @property
    def n_models(self) -> int:
        """Rows."""
        return len(self.array)

    def bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """As they lie there; bits after the last image must be 0."""
        some = np.asarray(self.array[rows])
        padding = 8 * some.shape[1] - self.n_train
        over = (some[:, -1] & np.uint8(2**padding - 1)) != 0
        if over.any():
            raise BadInputError(
                f"{self.name} has bits after the last of {self.n_train:,} images, in row {some_of(rows[over])}: pack "
                "with numpy.packbits(masks, axis=1), or correct n_train."
            )
        return some


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Row m lists the images indices[bounds[m] : bounds[m + 1]]: those in its mask, or if not `included`, those left
    out of it.

    >>> lists = ListedRows("indices.npy", np.array([0, 2, 1]), np.array([0, 2, 3]), 3)
    >>> np.unpackbits(lists.bits(np.array([0, 1])), axis=1, count=3).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """

    name: str
    indices: NDArray[np.integer[Any]]
    bounds: NDArray[np.int64]
    n_train: int
    included: bool = True

    @property
    def n_models(self) -> int:
        """Lists."""
        return len(self.bounds) - 1

    def bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Packed here; a list that names an image twice, or one that there is not, is refused."""
        step = max(1, DENSE_CELLS // self.n_train)
        parts = [self._some_bits(rows[start : start + step]) for start in range(0, len(rows), step)]
        return np.concatenate([np.zeros((0, (self.n_train + 7) // 8), np.uint8), *parts])

    def _some_bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Of so few rows that they may be dense for a moment."""
        lengths = self.bounds[rows + 1] - self.bounds[rows]
        starts = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self.bounds[rows] - starts, lengths)
        images = np.asarray(self.indices[places]).astype(np.int64)
        of = np.repeat(np.arange(len(rows)), lengths)
        self._refuse_outside(images, rows[of])
        masks = np.zeros((len(rows), self.n_train), np.bool_)
        masks[of, images] = True
        twice = masks.sum(axis=1) != lengths
        if twice.any():
            raise BadInputError(
                f"{self.name} lists an image twice in row {some_of(rows[twice])}; a list must name different images."
            )
        return np.packbits(masks if self.included else ~masks, axis=1)

    def _refuse_outside(self, images: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        outside = (images < 0) | (images >= self.n_train)
        if outside.any():
            first = int(np.flatnonzero(outside)[0])
            from_1 = int(images.max()) == self.n_train and not names_image_0(self.indices)
            ask = "do the lists count from 1? Then subtract 1, or " if from_1 else ""
            raise BadInputError(
                f"{self.name} lists image {images[first]} in row {rows[first]}, but images go from 0 to "
                f"{self.n_train - 1}; {ask}correct the list, or n_train in subsets.json."
            )


def largest_index(indices: NDArray[np.integer[Any]]) -> int:
    """Of all lists, read a part at a time; −1 where they are empty."""
    step = 2**22
    return max((int(indices[start : start + step].max()) for start in range(0, len(indices), step)), default=-1)


def names_image_0(indices: NDArray[np.integer[Any]]) -> bool:
    """Whether any list does; lists that do not may count from 1. Read a part at a time, until it is found."""
    step = 2**22
    return any(bool((indices[start : start + step] == 0).any()) for start in range(0, len(indices), step))
