"""What the download stage reads: the embedded set, a folder that `train` made, or one in the released layout.

A source is described without reading it (`fingerprint`), so that the stage's key is known before it runs, and then
copied into the store as bit-packed masks, float16 margins and images.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.config import Source
from pipeline.errors import BadInputError
from pipeline.files import file_digest, identity

FORMAT = "datamodels-inf source 1"
EMBEDDED = Path(__file__).parent / "embedded" / "digits"
CHUNK_ROWS = 2048


@dataclass(frozen=True)
class Files:
    """The files of a source. Masks are bits (n_train is then given) or bool; images may be missing."""

    masks: Path
    margins: Path
    n_train: int | None
    images: Path | None
    digests: Mapping[Path, str] = field(default_factory=dict)


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
    return replace(found, digests={folder / name: digest for name, digest in digests.items()})


def _released_files(folder: Path, source: Source) -> Files:
    """MadryLab's layout: [cifar/]data/train_masks_50pct.npy and test_margins_50pct.npy."""
    names = f"train_masks_{source.percent}pct.npy", f"test_margins_{source.percent}pct.npy"
    for place in (folder, folder / "data", folder / "cifar" / "data"):
        if all((place / name).is_file() for name in names):
            return Files(place / names[0], place / names[1], None, source.images)
    raise BadInputError(
        f"source.folder {folder} holds no {names[0]} with {names[1]}, nor a set made by datamodels-inf train."
    )


def fingerprint(source: Source) -> dict[str, Any]:
    """What identifies the content: checksums, of very large files the place, size and time."""
    if source.kind == "embedded":
        return {"embedded": file_digest(EMBEDDED / "manifest.json")}
    files = find_files(source)
    found = {}
    for name, path in (("masks", files.masks), ("margins", files.margins), ("images", files.images)):
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
    kept = _kept_rows(source, len(masks))
    with (
        _new(out / "masks.npy", np.dtype(np.uint8), (len(kept), (n_train + 7) // 8)) as masks_out,
        _new(out / "margins.npy", margins.dtype, (len(kept), margins.shape[1])) as margins_out,
    ):
        for start in range(0, len(kept), CHUNK_ROWS):
            rows = kept[start : start + CHUNK_ROWS]
            bits = masks[rows] if files.n_train is not None else _pack(files.masks, masks[rows])
            masks_out.write(np.ascontiguousarray(bits).tobytes())
            margins_out.write(_finite(files.margins, margins[rows]).tobytes())
            progress(len(rows))
    return {
        "n_models": len(kept),
        "n_train": n_train,
        "n_targets": int(margins.shape[1]),
        "masks_file": "masks.npy",
        "margins_file": "margins.npy",
        "fit": [0, source.fit_rows],
        "held_out": [source.fit_rows, len(kept)],
    }


def _kept_rows(source: Source, n_models: int) -> NDArray[np.int64]:
    if source.fit_rows + source.held_out_rows > n_models:
        raise BadInputError(
            f"source.fit_rows = {source.fit_rows} and source.held_out_rows = {source.held_out_rows} overlap: there are "
            f"only {n_models} models, and testing on rows that the fit has seen is leakage; lower one of them."
        )
    first, last = np.arange(source.fit_rows), np.arange(n_models - source.held_out_rows, n_models)
    return np.concatenate([first, last])


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
