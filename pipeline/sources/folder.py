"""What the download stage reads: the embedded set, a folder that `train` made, or one in the released layout.

A source is described without reading it (`fingerprint`), so that the stage's key is known before it runs, and then
copied into the store as bit-packed masks, float16 margins and images.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.config import Source
from pipeline.errors import BadInputError
from pipeline.store.files import file_digest, identity

FORMAT = "datamodels-inf source 1"
EMBEDDED = Path(__file__).parents[1] / "embedded" / "digits"
CHUNK_ROWS = 2048
NAMED_ROWS = 5
"""Of rows that a sentence names, so many."""


@dataclass(frozen=True)
class Files:
    """The files of a source. Masks are bits (n_train is then given) or bool; images may be missing.

    completed: a bool for each row, False where its model was not trained.
    """

    masks: Path
    margins: Path
    n_train: int | None
    images: Path | None
    digests: Mapping[Path, str] = field(default_factory=dict)
    completed: Path | None = None


def find_files(source: Source) -> Files:
    folder = EMBEDDED if source.kind == "embedded" else source.folder
    if folder is None or not folder.is_dir():
        raise BadInputError(f"source.folder {folder} is not a folder; name the one that holds the masks and margins.")
    if (folder / "manifest.json").is_file():
        return _trained_files(folder, source.images)
    return _released_files(folder, source)


def _trained_files(folder: Path, images: Path | None) -> Files:
    """A folder that `datamodels-inf train` made."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        known = manifest["format"] == FORMAT
        n_train, digests = int(manifest["job"]["n_train"]), dict(manifest["sha256"])
    except (ValueError, KeyError, TypeError):
        known, n_train, digests = False, 0, {}
    if not known:
        raise BadInputError(
            f"{folder / 'manifest.json'} is not one that datamodels-inf train wrote; make the set again."
        )
    found = Files(folder / "masks.npy", folder / "margins.npy", n_train, images or folder / "images.npz")
    digests = {folder / name: digest for name, digest in digests.items()}
    return replace(found, digests=digests, completed=_completed(folder))


def _released_files(folder: Path, source: Source) -> Files:
    """MadryLab's layouts: [cifar/]data/train_masks_50pct.npy and test_margins_50pct.npy, as released; or masks.npy and
    margins.npy, as the trainer leaves them, with _completed.npy.
    """
    released = f"train_masks_{source.percent}pct.npy", f"test_margins_{source.percent}pct.npy"
    for names in (released, ("masks.npy", "margins.npy")):
        for place in (folder, folder / "data", folder / "cifar" / "data"):
            if all((place / name).is_file() for name in names):
                found = Files(place / names[0], place / names[1], None, source.images)
                return replace(found, completed=_completed(place))
    raise BadInputError(
        f"source.folder {folder} holds no {released[0]} with {released[1]}, no masks.npy with margins.npy, nor a set "
        "made by datamodels-inf train."
    )


def _completed(folder: Path) -> Path | None:
    path = folder / "_completed.npy"
    return path if path.is_file() else None


def fingerprint(source: Source) -> dict[str, Any]:
    """What identifies the content: checksums, of very large files the place, size and time."""
    if source.kind == "embedded":
        return {"embedded": file_digest(EMBEDDED / "manifest.json")}
    files = find_files(source)
    found = {}
    parts = {"masks": files.masks, "margins": files.margins, "images": files.images, "completed": files.completed}
    for name, path in parts.items():
        if path is not None:
            if not path.exists():
                raise BadInputError(f"{path} does not exist; the source is not complete.")
            found[f"content of {name}"] = identity(path)
    return found


def copy_arrays(source: Source, files: Files, out: Path, progress: Callable[[int], object]) -> dict[str, Any]:
    """The first `fit_rows` and the last `held_out_rows` rows into masks.npy (bits) and margins.npy."""
    for path, digest in files.digests.items():
        if path.is_file() and file_digest(path) != digest:
            raise BadInputError(f"{path} is damaged: its checksum is not that of its manifest; get the set again.")
    masks, margins = _open(files.masks), _open(files.margins)
    n_train = _check_masks(files, masks)
    if margins.ndim != 2 or margins.dtype.kind != "f" or len(margins) != len(masks):
        raise BadInputError(
            f"{files.margins} must hold floats of shape ({len(masks)}, n_targets), one row per mask, "
            f"but it holds {margins.dtype} of shape {margins.shape}."
        )
    finished = _finished_rows(files, len(masks))

    def bits(rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        return masks[rows] if files.n_train is not None else _pack(files.masks, masks[rows])

    groups = _equal_masks(bits, finished, n_train) if source.group_by_mask else Groups.single(finished)
    what = "different masks" if source.group_by_mask else "models"
    kept = _kept(source, len(groups), f"{what} that are completed" if files.completed else what)
    dtype = np.result_type(margins.dtype, np.float32) if source.group_by_mask else margins.dtype
    empty: list[int] = []
    with (
        _new(out / "masks.npy", np.dtype(np.uint8), (len(kept), (n_train + 7) // 8)) as masks_out,
        _new(out / "margins.npy", dtype, (len(kept), margins.shape[1])) as margins_out,
    ):
        for start in range(0, len(kept), CHUNK_ROWS):
            some = kept[start : start + CHUNK_ROWS]
            first = groups.first(some)
            chunk = np.ascontiguousarray(bits(first))
            empty += first[~chunk.any(axis=1)].tolist()
            masks_out.write(chunk.tobytes())
            rows = groups.rows(some)
            means = groups.averaged(some, _finite(files.margins, margins[rows])).astype(dtype, copy=False)
            margins_out.write(np.ascontiguousarray(means).tobytes())
            progress(len(some))
    refuse_empty(str(files.masks), empty)
    return {
        "n_models": len(kept),
        "n_train": n_train,
        "n_targets": int(margins.shape[1]),
        "masks_file": "masks.npy",
        "margins_file": "margins.npy",
        "fit": [0, source.fit_rows],
        "held_out": [source.fit_rows, len(kept)],
        "n_unfinished": len(masks) - len(finished),
        "n_repeated": len(finished) - len(groups),
    }


def refuse_empty(name: str, rows: Sequence[int]) -> None:
    """A model that was trained on nothing is no model: its row was never filled."""
    if rows:
        more = f" and {len(rows) - NAMED_ROWS} more" if len(rows) > NAMED_ROWS else ""
        raise BadInputError(
            f"{name} holds masks without any image, in row{'s' if len(rows) > 1 else ''} "
            f"{', '.join(map(str, rows[:NAMED_ROWS]))}{more}: were these models trained? Leave out the rows of "
            "models that were not; in a folder, a _completed.npy beside the masks, False in these rows, does that."
        )


@dataclass(frozen=True)
class Groups:
    """Rows that are made one: `order` holds the rows group by group, and group g begins at bounds[g]."""

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def single(cls, rows: NDArray[np.int64]) -> Groups:
        return cls(rows, np.arange(len(rows) + 1))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def first(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first row of each of these groups."""
        return self.order[self.bounds[groups]]

    def rows(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """All rows of these groups, group by group."""
        if len(self) == len(self.order):
            return self.order[groups]
        return np.concatenate([self.order[self.bounds[g] : self.bounds[g + 1]] for g in groups.tolist()])

    def averaged(self, groups: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
        """The mean of each group, of `values` of its rows; a group of one row is left as it is, to the bit."""
        sizes = self.bounds[groups + 1] - self.bounds[groups]
        if (sizes == 1).all():
            return values
        starts = np.cumsum(sizes) - sizes
        sums: NDArray[np.float64] = np.add.reduceat(values.astype(np.float64), starts, axis=0)
        return sums / sizes[:, None]


def _equal_masks(
    bits: Callable[[NDArray[np.int64]], NDArray[np.uint8]], rows: NDArray[np.int64], n_train: int
) -> Groups:
    """The rows by their masks, in the order in which a mask is seen first."""
    from datamodels_inf.masks import PackedMasks, row_hashes

    chunks = (rows[start : start + CHUNK_ROWS] for start in range(0, len(rows), CHUNK_ROWS))
    hashes = np.concatenate([row_hashes(PackedMasks(bits(chunk), n_train)) for chunk in chunks])
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    seen = first[group]  # Of each row, the first with its mask.
    order = np.argsort(seen, kind="stable")
    starts = np.flatnonzero(np.diff(seen[order], prepend=-1))
    return Groups(rows[order], np.append(starts, len(rows)))


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


def _kept(source: Source, count: int, what: str) -> NDArray[np.int64]:
    """The first for the fit, the last for the test."""
    if source.fit_rows + source.held_out_rows > count:
        raise BadInputError(
            f"source.fit_rows = {source.fit_rows} and source.held_out_rows = {source.held_out_rows} overlap: there are "
            f"only {count} {what}, and testing on rows that the fit has seen is leakage; lower one of them."
        )
    return np.concatenate([np.arange(source.fit_rows), np.arange(count - source.held_out_rows, count)])


def _open(path: Path) -> NDArray[Any]:
    """A memory map; nothing is unpickled."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise BadInputError(f"{path} does not exist; the source is not complete.") from error
    except (ValueError, OSError, EOFError) as error:
        raise BadInputError(f"{path} is not a whole .npy array of numbers ({error}); get it again.") from error
    return array


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


def _pack(path: Path, rows: NDArray[Any]) -> NDArray[np.uint8]:
    from datamodels_inf.masks import pack_rows

    try:
        return pack_rows(np.asarray(rows))
    except ValueError as error:
        raise BadInputError(f"{path}: {error}") from error


def _finite(path: Path, rows: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(rows).all():
        raise BadInputError(f"{path} holds a margin that is NaN or infinite; mend or drop the row.")
    return np.ascontiguousarray(rows)


@contextmanager
def _new(path: Path, dtype: np.dtype[Any], shape: tuple[int, int]) -> Iterator[BinaryIO]:
    """An .npy file whose rows are written one after the other: a full disk is an error then, not a dead process."""
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        yield file
