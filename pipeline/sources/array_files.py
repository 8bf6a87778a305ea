"""Arrays of masks and margins on this disk, checked and copied into the store as bit-packed masks and margins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from pipeline.errors import BadInputError
from pipeline.images.image_set import read_arrays, readable
from pipeline.progress import progress_bar
from pipeline.sources.equal_masks import CHUNK_ROWS, Groups, group_by_mask
from pipeline.sources.row_split import refuse_empty, split_rows
from pipeline.store.files import file_digest
from pipeline.summaries import DownloadSummary
from pipeline.text.numbers import are_counted, counted

if TYPE_CHECKING:
    from pipeline.config import Config
    from pipeline.sources.cifar10_images import NumberedImages
    from pipeline.stages.base import Run


@dataclass(frozen=True)
class Files:
    """The files of a source. Masks are bits (n_train is then given) or bool; images may be missing.

    completed: a bool for each row, False where its model was not trained. margin_step: margins are kept as whole
    multiples of it; None where they are kept as they are. numbered: images that the set knows by number only.
    """

    masks: Path
    margins: Path
    n_train: int | None
    images: Path | None
    digests: Mapping[Path, str] = field(default_factory=dict)
    completed: Path | None = None
    margin_step: float | None = None
    numbered: NumberedImages | None = None


def copy_files(run: Run, files: Files) -> DownloadSummary:
    """`copy_arrays`, and words about rows that were left out or made one."""
    rows = copy_arrays(run.config, files, run.out, run.quiet)
    if rows.n_unfinished:
        run.say(f"{are_counted(rows.n_unfinished, 'model', first=True)} not completed ({files.completed}): left out")
    if rows.n_repeated:
        repeat = f"{counted(rows.n_repeated, 'model')} {'repeats' if rows.n_repeated == 1 else 'repeat'} a mask"
        run.say(f"{repeat}: the outcomes of equal masks are averaged")
    return rows


def copy_arrays(config: Config, files: Files, out: Path, quiet: bool) -> DownloadSummary:
    """The rows for the fit and those for the test into masks.npy (bits) and margins.npy."""
    source = config.source
    arrays = Arrays.of(files)
    finished = _finished_rows(files, len(arrays.masks))
    groups = group_by_mask(arrays.bits, finished, arrays.n_train) if source.group_by_mask else Groups.single(finished)
    what = "different masks" if source.group_by_mask else "models"
    what = f"{what} that are completed" if files.completed else what
    fit, held_out = split_rows(config, len(groups), arrays.n_train, what)
    kept = np.concatenate([np.arange(*fit), np.arange(*held_out)])
    n_targets, dtype = arrays.margins.shape[1], arrays.margin_dtype
    dtype = np.result_type(dtype, np.float32) if source.group_by_mask else dtype
    empty: list[int] = []
    with (
        _new(out / "masks.npy", np.dtype(np.uint8), (len(kept), (arrays.n_train + 7) // 8)) as masks_out,
        _new(out / "margins.npy", dtype, (len(kept), n_targets)) as margins_out,
        progress_bar(len(kept), "model", "download", quiet) as advance,
    ):
        for start in range(0, len(kept), CHUNK_ROWS):
            some = kept[start : start + CHUNK_ROWS]
            first = groups.first(some)
            bits = np.ascontiguousarray(arrays.bits(first))
            empty += first[~bits.any(axis=1)].tolist()
            masks_out.write(bits.tobytes())
            means = groups.averaged(some, arrays.finite_margins(groups.rows(some))).astype(dtype, copy=False)
            margins_out.write(np.ascontiguousarray(means).tobytes())
            advance(len(some))
    refuse_empty(str(files.masks), empty)
    return DownloadSummary(
        n_models=len(kept),
        n_train=arrays.n_train,
        n_targets=n_targets,
        masks_file="masks.npy",
        margins_file="margins.npy",
        fit=fit,
        held_out=(fit[1], len(kept)),
        n_unfinished=len(arrays.masks) - len(finished),
        n_repeated=len(finished) - len(groups),
    )


@dataclass(frozen=True, eq=False)
class Arrays:
    """Masks and margins as they lie in their files, checked but for the values of their rows."""

    files: Files
    masks: NDArray[Any]
    margins: NDArray[Any]
    n_train: int

    @classmethod
    def of(cls, files: Files) -> Arrays:
        """Memory maps of whole and fitting files."""
        for path, digest in files.digests.items():
            if path.is_file() and file_digest(path) != digest:
                raise BadInputError(f"{path} is damaged: its checksum is not that of its manifest; get the set again.")
        masks = _open(files.masks)
        margins = _unpacked(files.margins) if files.margins.suffix == ".npz" else _open(files.margins)
        n_train = _check_masks(files, masks)
        _check_margins(files, margins, len(masks))
        return cls(files, masks, margins, n_train)

    @property
    def margin_dtype(self) -> np.dtype[Any]:
        """Of the margins themselves."""
        return self.margins.dtype if self.files.margin_step is None else np.dtype(np.float32)

    def bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The packed masks of some rows."""
        if self.files.n_train is not None:
            return np.asarray(self.masks[rows])
        try:
            return pack_rows(np.asarray(self.masks[rows]))
        except ValueError as error:
            raise BadInputError(f"{self.files.masks}: {error}") from error

    def finite_margins(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The margins of some rows; of whole numbers, their multiples of the step."""
        margins = np.ascontiguousarray(self.margins[rows])
        if self.files.margin_step is not None:
            return margins.astype(np.float32) * np.float32(self.files.margin_step)
        if not np.isfinite(margins).all():
            raise BadInputError(f"{self.files.margins} holds an outcome that is NaN or infinite; mend or drop the row.")
        return margins


def _finished_rows(files: Files, n_models: int) -> NDArray[np.int64]:
    """The rows whose models were trained."""
    if files.completed is None:
        return np.arange(n_models)
    completed = _open(files.completed)
    if completed.shape != (n_models,) or completed.dtype.kind not in "bui" or not np.isin(completed, (0, 1)).all():
        raise BadInputError(
            f"{files.completed} must hold {n_models} booleans, one per mask, but it holds {completed.dtype} of shape "
            f"{completed.shape}."
        )
    if not completed.any():
        raise BadInputError(f"{files.completed} says that no model is completed, so that there is nothing to read.")
    return np.flatnonzero(completed)


def _open(path: Path) -> NDArray[Any]:
    """A memory map; nothing is unpickled."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise BadInputError(f"{path} does not exist; the source is not complete.") from error
    except (ValueError, OSError, EOFError) as error:
        raise BadInputError(f"{path} is not a whole .npy array of numbers ({error}); get it again.") from error
    return array


def _unpacked(path: Path) -> NDArray[Any]:
    """(n_models, n_targets), from an .npz that has it the other way round."""
    with readable(path, "set of margins"):
        return read_arrays(path, ("multiples",))[0].T
    raise AssertionError("unreachable")


def _check_masks(files: Files, masks: NDArray[Any]) -> int:
    """The number of training images."""
    if files.n_train is None:
        if masks.ndim != 2 or masks.dtype not in (np.bool_, np.uint8):
            raise BadInputError(
                f"{files.masks} must hold bool of shape (n_models, n_train), "
                f"but it holds {masks.dtype} of shape {masks.shape}."
            )
        return int(masks.shape[1])
    if masks.ndim != 2 or masks.dtype != np.uint8 or masks.shape[1] != (files.n_train + 7) // 8:
        raise BadInputError(
            f"{files.masks} does not hold the bits of {files.n_train} images per row; make the set again."
        )
    return files.n_train


def _check_margins(files: Files, margins: NDArray[Any], n_models: int) -> None:
    step = files.margin_step
    allowed = margins.dtype.kind == "f" if step is None else margins.dtype in (np.int8, np.int16)
    if margins.ndim != 2 or not allowed or len(margins) != n_models:
        kind = "floats" if step is None else f"int8 or int16, multiples of its manifest's margin_step {step:g},"
        raise BadInputError(
            f"{files.margins} must hold {kind} of shape ({n_models}, n_targets), one row per mask, "
            f"but it holds {margins.dtype} of shape {margins.shape}."
        )


@contextmanager
def _new(path: Path, dtype: np.dtype[Any], shape: tuple[int, int]) -> Iterator[BinaryIO]:
    """An .npy file whose rows are written one after the other: a full disk is an error then, not a dead process."""
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        yield file
