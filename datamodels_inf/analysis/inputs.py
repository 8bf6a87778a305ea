"""Masks, outcomes and scores as people have them in a notebook, checked and made into one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.analysis.items import Items
from datamodels_inf.internal.checks import as_array, check_integer, some_of
from datamodels_inf.internal.column_names import column_names
from datamodels_inf.masks import FloatArray, PackedMasks, count_ones

LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Data:
    """masks and outcomes of all models, one row each, and what is known of images and targets."""

    masks: PackedMasks
    outcomes: FloatArray
    items: Items

    @classmethod
    def of(cls, masks: Any, outcomes: Any, *, n_train: int | None, labels: Any, names: Any, images: Any) -> Data:
        """As `analyse` takes them; tables bring the names of their columns."""
        packed = read_masks(masks, n_train)
        values = read_outcomes(outcomes, packed.n_models)
        known = (column_names(masks), column_names(outcomes)) if names is None else names
        check_same_rows("outcomes", outcomes, "masks", masks)
        items = Items.of(packed.n_train, values.shape[1], labels=labels, names=known, images=images)
        return cls(packed, values, items)

    def outcomes_of(self, rows: tuple[int, int], targets: NDArray[np.int64]) -> FloatArray:
        """(rows, targets)."""
        return np.asarray(self.outcomes[slice(*rows)][:, targets])


def check_same_rows(name: str, table: Any, other_name: str, other: Any) -> None:
    """Two tables whose rows have labels must have the same ones in the same order: rows are matched by place."""
    first, second = (getattr(one, "index", None) for one in (table, other))
    if first is None or second is None or callable(first) or callable(second):
        return
    if list(first) != list(second):
        raise ValueError(
            f"the rows of `{name}` are not labelled as those of `{other_name}`; bring both into one order."
        )


def read_masks(masks: Any, n_train: int | None = None) -> PackedMasks:
    """Bool, the numbers 0 and 1, `PackedMasks`, a DataFrame or sparse matrix, or a list of index arrays with `n_train`.

    A list holds of each model the numbers of the images that it was trained on:

    >>> read_masks([[0, 2], [1], [2, 1]], n_train=3).to_bool().astype(int).tolist()
    [[1, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    packed = masks if isinstance(masks, PackedMasks) else _packed(masks, n_train)
    if n_train is not None and packed.n_train != n_train:
        raise ValueError(f"`n_train` is {n_train}, but `masks` has {packed.n_train} columns.")
    empty = np.flatnonzero(count_ones(packed.bits) == 0)
    if empty.size:
        raise ValueError(
            f"`masks` holds masks without any image, in row{'s' if empty.size > 1 else ''} {some_of(empty)}: were "
            "these models trained? Leave out the rows of models that were not."
        )
    return packed


def _packed(masks: Any, n_train: int | None) -> PackedMasks:
    if n_train is not None and _is_lists(masks, n_train):
        return _of_lists(masks, check_integer("n_train", n_train, 1))
    try:
        array = as_array("masks", masks.toarray() if hasattr(masks, "toarray") else masks)
    except ValueError as error:
        hint = "" if n_train is not None else "; lists of the images that each model saw need `n_train`"
        raise ValueError(f"{str(error).rstrip('.')}: bool, 0 and 1, or PackedMasks{hint}.") from error
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"`masks` must have shape (n_models, n_train), but it is {array.shape}.")
    if array.dtype != np.bool_:
        if not np.isin(array, (0, 1)).all():
            raise ValueError(
                "`masks` must hold only 0 and 1; if its rows list the images that each model saw, give `n_train`."
            )
        array = array.astype(np.bool_)
    return PackedMasks.from_bool(array)


def _is_lists(masks: Any, n_train: int) -> bool:
    """Whether rows are lists of images, and not masks themselves: an array of as many columns as images is no list."""
    shape = getattr(masks, "shape", None)
    if shape is not None and len(shape) == 2:
        return bool(shape[1] != n_train)
    lengths = {np.size(row) for row in masks}
    values = {int(value) for row in masks for value in np.ravel(row)[:n_train]} if lengths == {n_train} else {2}
    return lengths != {n_train} or not values <= {0, 1}


def _of_lists(lists: Sequence[ArrayLike], n_train: int) -> PackedMasks:
    bits = np.zeros((len(lists), (n_train + 7) // 8), np.uint8)
    row = np.zeros(n_train, np.bool_)
    for m, images in enumerate(lists):
        index = np.asarray(images)
        if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
            raise ValueError(f"`masks` must list whole numbers, the images that a model saw, but row {m} does not.")
        if index.size and not (index.min() >= 0 and index.max() < n_train):
            raise ValueError(
                f"`masks` must list images from 0 to {n_train - 1}, but row {m} has {index.min()} to {index.max()}."
            )
        row[:] = False
        row[index.astype(np.intp)] = True
        if np.count_nonzero(row) < index.size:
            raise ValueError(f"`masks` must list an image once, but row {m} has one twice.")
        bits[m] = np.packbits(row)
    return PackedMasks(bits, n_train)


def read_outcomes(outcomes: Any, n_models: int) -> FloatArray:
    """(n_models, n_targets); floats keep their type, so that float16 margins are tested as they are.

    >>> read_outcomes([1, 2, 3], 3).shape
    (3, 1)
    """
    array = as_array("outcomes", outcomes)
    values: NDArray[Any] = array if array.dtype.kind == "f" else array.astype(np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.size == 0 or len(values) != n_models:
        raise ValueError(
            f"`outcomes` must have shape ({n_models},) or ({n_models}, n_targets), one row a mask, but it is "
            f"{array.shape}."
        )
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise ValueError(f"`outcomes` must be finite, but rows {some_of(wrong)} are not; mend or leave out these rows.")
    if float(np.abs(values.astype(np.float64)).max()) > LARGEST:
        raise ValueError(f"`outcomes` must not be larger than {LARGEST:g}: their squares overflow; divide them.")
    return values


def read_theta(theta: Any, n_train: int, n_targets: int) -> FloatArray:
    """Weights or scores (n_train, n_targets), turned where the shape fits only the other way round.

    >>> read_theta([[0.1, 0.2, 0.3]], n_train=3, n_targets=1).shape
    (3, 1)
    """
    array = as_array("theta", theta)
    values: NDArray[Any] = array if array.dtype.kind == "f" else array.astype(np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.shape == (n_targets, n_train) and n_targets != n_train:
        values = values.T
    if values.shape != (n_train, n_targets):
        raise ValueError(
            f"`theta` must have shape ({n_train}, {n_targets}), one row a training image and one column a target, but "
            f"it is {array.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError("`theta` must be finite, but it holds NaN or infinity.")
    return values


def read_bias(bias: ArrayLike | None, n_targets: int) -> NDArray[np.float64]:
    """One a target, or one for all; 0 if None."""
    array = as_array("bias", 0.0 if bias is None else bias).astype(np.float64)
    if array.shape not in ((), (n_targets,)):
        raise ValueError(f"`bias` must be {n_targets} numbers, one a target, but its shape is {array.shape}.")
    return np.array(np.broadcast_to(array, (n_targets,)))
