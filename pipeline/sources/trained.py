"""A set that `datamodels-inf train` made: a folder of packed masks and margins, with a manifest.

Its images are its own, or those of CIFAR-10 that its features.npz numbers.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import BadInputError
from pipeline.sources.array_files import Files, check_digests, open_files
from pipeline.sources.base import Arrived, content_of_images, contents
from pipeline.sources.cifar10_images import NumberedImages
from pipeline.sources.opened import Opened, copy_opened
from pipeline.store.identity import identity
from pipeline.text.sealed_json import read_sealed
from pipeline.training.inputs import FEATURE_FILE, Features

if TYPE_CHECKING:
    from pipeline.stages.base import Run

FORMAT = "datamodels-inf source 1"
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""The name of a file in the folder of a set: a manifest may come from anywhere."""
MULTIPLES = "margins.npz"
"""Margins as packed multiples of the job's margin_step."""


def trained_files(folder: Path, images: Path | None) -> Files:
    """The files of such a folder, which has a manifest.json; `images` are taken instead of its own."""
    try:
        manifest = read_sealed(folder / "manifest.json")
        known = manifest["format"] == FORMAT
        job, digests = dict(manifest["job"]), dict(manifest["sha256"])
        n_train, step = int(job["n_train"]), _step(job.get("margin_step"))
        known = known and all(PLAIN.fullmatch(name) for name in digests)
    except (BadInputError, ValueError, KeyError, TypeError, OverflowError):
        known, n_train, step, job, digests = False, 0, None, {}, {}
    if not known:
        raise BadInputError(
            f"{folder / 'manifest.json'} is not one that datamodels-inf train wrote; make the set again."
        )
    numbered = _numbered(folder, job, images)
    packed = step is not None and (folder / MULTIPLES).is_file()
    return Files(
        folder / "masks.npy",
        folder / (MULTIPLES if packed else "margins.npy"),
        n_train,
        None if numbered else images or folder / "images.npz",
        digests={folder / name: digest for name, digest in digests.items()},
        completed=completed_file(folder),
        margin_step=step,
        numbered=numbered,
    )


def _step(value: Any) -> float | None:
    if value is not None and not (isinstance(value, float | int) and math.isfinite(value) and value > 0):
        raise ValueError("job.margin_step is no positive number")
    return value


def _numbered(folder: Path, job: dict[str, Any], images: Path | None) -> NumberedImages | None:
    """How to find the images of a set that has features, unless it has its own and no others are named."""
    if job.get("features") is None or (images is None and (folder / "images.npz").is_file()):
        return None
    return NumberedImages(folder / FEATURE_FILE, str(job.get("images_sha256")), images)


def content_of_files(files: Files) -> dict[str, Any]:
    """What tells the content of a source of files from another: checksums."""
    parts = {"masks": files.masks, "margins": files.margins, "images": files.images, "completed": files.completed}
    if files.numbered is not None:
        parts["features"] = files.numbered.features
    found = contents(parts.items())
    check_digests(files, identity)  # Each time: fresh models are trained as the manifest says, whatever is cached.
    if files.numbered is not None:  # The manifest says what they must be, so only the content of a copy can matter.
        found["content of images"] = content_of_images(files.numbered.copy) or "CIFAR-10"
    if files.margin_step is not None:
        found["margin step"] = files.margin_step
    return found


def bring_files(run: Run, files: Files) -> Arrived:
    """Rows into the store, with the images that the files have or number."""
    return bring_opened(run, open_files(files))


def bring_opened(run: Run, opened: Opened) -> Arrived:
    """The same of a set that is open."""
    rows = copy_opened(run, opened)
    if opened.numbered is None:
        return Arrived(rows, opened.images, opened.labels, opened.names)
    features = Features.load(opened.numbered.features)
    images, later = opened.numbered.bring(run, features)
    return Arrived(rows.model_copy(update={"awaits_images": True}) if later else rows, images, features.labels)


def completed_file(folder: Path) -> Path | None:
    """What the trainers leave beside the masks: whether each model was trained to its end."""
    path = folder / "_completed.npy"
    return path if path.is_file() else None
