"""Arrays of masks and margins as .npy files, as `datamodels-inf train`, MadryLab and the network sources have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import open_array
from pipeline.errors import BadInputError
from pipeline.images.image_set import read_arrays, readable
from pipeline.sources.mask_rows import MaskRows, NumberRows, PackedRows
from pipeline.sources.opened import Opened, copy_opened, finished_rows
from pipeline.sources.outcome_rows import OutcomeRows
from pipeline.store.files import file_digest
from pipeline.summaries import DownloadSummary

if TYPE_CHECKING:
    from pipeline.sources.cifar10_images import NumberedImages
    from pipeline.stages.base import Run


@dataclass(frozen=True)
class Files:
    """The files of a source. Masks are bits (n_train is then given) or bool; images may be missing.

    completed: a bool for each row, False where its model was not trained. margin_step: margins are kept as whole
    multiples of it; None where they are kept as they are. numbered: images that the set knows by number only.
    nan_rows: rows of nothing but NaN are models that were not trained. weights: datamodels that lie there too.
    """

    masks: Path
    margins: Path
    n_train: int | None
    images: Path | None
    digests: Mapping[Path, str] = field(default_factory=dict)
    completed: Path | None = None
    margin_step: float | None = None
    numbered: NumberedImages | None = None
    nan_rows: bool = False
    weights: Path | None = None


def copy_files(run: Run, files: Files) -> DownloadSummary:
    """Rows into the store, with words about those that were left out or made one."""
    return copy_opened(run, open_files(files))


def open_files(files: Files) -> Opened:
    """Memory maps of whole and fitting files, checked but for the values of their rows."""
    check_digests(files, file_digest)
    masks = _masks(files)
    margins = _unpacked(files.margins) if files.margins.suffix == ".npz" else open_array(files.margins)
    _check_margins(files, margins, masks.n_models)
    step = files.margin_step
    outcomes = OutcomeRows(str(files.margins), margins, 1.0 if step is None else step, step=step is not None)
    completed = None if files.completed is None else read_completed(files.completed, masks.n_models)
    missing = outcomes.missing_rows() if files.nan_rows else None
    finished, left_out = finished_rows(
        masks.n_models, completed, missing, str(files.completed or ""), str(files.margins)
    )
    return Opened(
        str(files.masks), masks, outcomes, finished, left_out,
        images=files.images, numbered=files.numbered, weights=files.weights,
    )  # fmt: skip


def check_digests(files: Files, digest_of: Callable[[Path], str]) -> None:
    """Refuse files that are not those of their manifest: one of them may be damaged, or the manifest another set's."""
    for path, digest in files.digests.items():
        if path.is_file() and digest_of(path) != digest:
            manifest = path.parent / "manifest.json"
            raise BadInputError(
                f"{path} is damaged: its checksum is not that of its manifest, {manifest} (or that is of another set); "
                "get the set again."
            )


def read_completed(path: Path, n_models: int) -> NDArray[np.bool_]:
    """Whether each row's model was trained."""
    completed = open_array(path)
    if completed.shape != (n_models,) or completed.dtype.kind not in "bui" or not np.isin(completed, (0, 1)).all():
        raise BadInputError(
            f"{path} must hold {n_models:,} booleans, one per mask, but it holds {completed.dtype} of shape "
            f"{completed.shape}."
        )
    return np.asarray(completed).astype(np.bool_)


def _unpacked(path: Path) -> NDArray[Any]:
    """(n_models, n_targets), from an .npz that has it the other way round."""
    with readable(path, "set of margins"):
        return read_arrays(path, ("multiples",))[0].T
    raise AssertionError("unreachable")


def _masks(files: Files) -> MaskRows:
    masks = open_array(files.masks)
    if files.n_train is None:
        if masks.ndim != 2 or masks.dtype not in (np.bool_, np.uint8) or 0 in masks.shape:
            raise BadInputError(
                f"{files.masks} must hold bool of shape (n_models, n_train), "
                f"but it holds {masks.dtype} of shape {masks.shape}."
            )
        return NumberRows(str(files.masks), masks)
    if masks.ndim != 2 or masks.dtype != np.uint8 or masks.shape[1] != (files.n_train + 7) // 8:
        raise BadInputError(
            f"{files.masks} does not hold the bits of {files.n_train:,} images per row; make the set again."
        )
    return PackedRows(str(files.masks), masks, files.n_train)


def _check_margins(files: Files, margins: NDArray[Any], n_models: int) -> None:
    step = files.margin_step
    allowed = margins.dtype.kind == "f" if step is None else margins.dtype in (np.int8, np.int16)
    if margins.ndim != 2 or not allowed or len(margins) != n_models or 0 in margins.shape:
        kind = "floats" if step is None else f"int8 or int16, multiples of its manifest's margin_step {step:g},"
        raise BadInputError(
            f"{files.margins} must hold {kind} of shape ({n_models}, n_targets), one row per mask, "
            f"but it holds {margins.dtype} of shape {margins.shape}."
        )
