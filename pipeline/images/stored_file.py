"""The file of all of CIFAR-10 in the store, and its record: digests beside it, so that later calls need not unpack it.

<folder>/cifar10.npz    the `ImageSet`
<folder>/cifar10.json   the checksums of the images and of the file
<folder>/.cifar10*      the lock, and what is under way
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from pipeline.errors import BadInputError
from pipeline.images.checksums import Known, images_checksum
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.image_set import ImageSet
from pipeline.store.files import file_digest, whole_file
from pipeline.store.locks import held
from pipeline.text.json_file import read_json

IMAGE_FILE = "cifar10.npz"
TEMPORARY = ".cifar10-"
"""Beginning of the names of what a killed process may leave."""


def is_intact(file: Path, known: Known, say: Callable[[str], object]) -> bool:
    """Whether the file holds CIFAR-10; if there is one that does not, it is named."""
    if not file.is_file():
        return False
    if _read_record(file) == _record(file, known):
        return True
    try:
        images = ImageSet.load(file)
    except BadInputError:
        say(f"{file} is damaged; making it again.")
        return False
    if images_checksum(images) != known.images_sha256 or images.class_names != CLASS_NAMES:
        say(f"{file} is damaged: its images are not those of CIFAR-10; making it again.")
        return False
    _write_record(file, known)  # killed before it was written, or the file was copied here without it
    return True


def save(images: ImageSet, file: Path, known: Known) -> None:
    """The file, then its record."""
    images.save(file)
    _write_record(file, known)


@contextmanager
def locked(folder: Path, say: Callable[[str], object]) -> Iterator[None]:
    """One process at a time; what a killed one left is removed, but for the part of an archive, which is used."""
    lock, words = FileLock(folder / ".cifar10.lock"), "waiting for another process, which gets CIFAR-10 into"
    with held(lock, lambda: say(f"{words} {folder} …")):
        for leftover in folder.glob(f"{TEMPORARY}*"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        yield


def _record(file: Path, known: Known) -> dict[str, str]:
    return {"images_sha256": known.images_sha256, "file_sha256": file_digest(file)}


def _read_record(file: Path) -> object:
    try:
        return read_json(file.with_suffix(".json"))
    except BadInputError:
        return None


def _write_record(file: Path, known: Known) -> None:
    with whole_file(file.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(_record(file, known), indent=1) + "\n", encoding="utf-8")
