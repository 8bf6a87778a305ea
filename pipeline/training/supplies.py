"""What the models of a set need beside their masks: it lies with the unfinished parts, for all who train them, and then
in the set. Beside each file that its job does not know by a checksum lies one (`note_checksum`), bound to the job."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
from pipeline.places.base import Work
from pipeline.store.files import has_digest, whole_file
from pipeline.store.unfinished_steps import fits_checksum, has_checksum, note_checksum
from pipeline.training.any_job import AnyJob, words_of
from pipeline.training.function_job import FunctionJob
from pipeline.training.function_work import FunctionTraining
from pipeline.training.inputs import FEATURE_FILE, Features, images_digest
from pipeline.training.job import Job
from pipeline.training.work import Models, Training

IMAGE_FILE = "images.npz"


class Supplies(Protocol):
    """What the models of one job need."""

    @property
    def job(self) -> AnyJob:
        """What is to be made."""

    def keep(self, folder: Path) -> Work[Models]:
        """Put into `folder` what is not there, and say how models are trained from it."""


@dataclass(frozen=True, eq=False)
class Images:
    """Images, or features of them: `make_features` is asked once, where the job has any."""

    job: Job
    images: ImageSet
    make_features: Callable[[], Features] | None = None

    def keep(self, folder: Path) -> Training:
        """Features that are there are kept whoever made them: all models must see the same. What is damaged is made
        anew."""
        inputs = folder / (IMAGE_FILE if self.make_features is None else FEATURE_FILE)
        if self.make_features is not None:
            self._keep_features(inputs, self.make_features)
        if IMAGE_FILE in kept_files(self.job, folder) and not _has_images(folder, self.job):
            with whole_file(folder / IMAGE_FILE) as temporary:
                self.images.save(temporary)
            note_checksum(folder / IMAGE_FILE, words_of(self.job))
        return Training(self.job, inputs.absolute())

    def _keep_features(self, path: Path, make: Callable[[], Features]) -> None:
        words = words_of(self.job)
        if path.is_file() and not has_checksum(path):  # Of an earlier version, or of a process killed just there.
            Features.load(path)
            note_checksum(path, words)
        if fits_checksum(path, words):
            return
        make().save(path)
        if has_checksum(path) and not fits_checksum(path, words) and any(path.parent.glob("[0-9]*.npz")):
            raise BadInputError(
                f"{path} was lost or damaged, and made again it is not what it was, so that the models of the other "
                f"files there have seen other features; delete {path.parent} and train them again."
            )
        note_checksum(path, words)


@dataclass(frozen=True, eq=False)
class OwnItems:
    """What a function of the user's needs is its own to know; `files` of its set, by name, are for those who read it
    later."""

    training: FunctionTraining
    files: Mapping[str, bytes]

    @property
    def job(self) -> FunctionJob:
        """What is to be made."""
        return self.training.job

    def keep(self, folder: Path) -> FunctionTraining:
        """Files that are there and whole stay."""
        for name, content in self.files.items():
            if not has_digest(folder / name, self.job.files[name]):
                with whole_file(folder / name) as temporary:
                    temporary.write_bytes(content)
        return self.training


def kept_files(job: AnyJob, folder: Path) -> list[str]:
    """Those of `folder` that belong to the set: of images that features number, only the features."""
    if isinstance(job, FunctionJob):
        return list(job.files)
    if job.features is None:
        return [IMAGE_FILE]
    numbered = len(Features.load(folder / FEATURE_FILE).train_numbers) > 0
    return [FEATURE_FILE] if numbered else [FEATURE_FILE, IMAGE_FILE]


def check_kept(job: AnyJob, folder: Path) -> None:
    """Refuse a folder whose files are not those of the job."""
    if isinstance(job, FunctionJob):
        whole = {name: has_digest(folder / name, digest) for name, digest in job.files.items()}
    else:
        whole = {} if job.features is None else {FEATURE_FILE: _is_as_noted(folder / FEATURE_FILE, job)}
        if all(whole.values()) and IMAGE_FILE in kept_files(job, folder):
            whole[IMAGE_FILE] = _has_images(folder, job)
    for name, is_whole in whole.items():
        if not is_whole:
            raise BadInputError(f"{folder / name} is missing or damaged; run one of its shards again.")


def _is_as_noted(path: Path, job: Job) -> bool:
    """By the checksum beside it; files of earlier versions have none."""
    return fits_checksum(path, words_of(job)) if has_checksum(path) else path.is_file()


def _has_images(folder: Path, job: Job) -> bool:
    """Also by the images' own checksum, which the job knows; it leaves out the names of classes."""
    path = folder / IMAGE_FILE
    with suppress(BadInputError):
        return _is_as_noted(path, job) and images_digest(ImageSet.load(path)) == job.images_sha256
    return False


def take_kept(job: AnyJob, source: Path, folder: Path) -> None:
    """Copy what belongs to a job, which has been checked, from one folder of parts to another."""
    for name in kept_files(job, source) if source != folder else ():
        with whole_file(folder / name) as temporary:
            shutil.copyfile(source / name, temporary)
        if isinstance(job, Job):
            note_checksum(folder / name, words_of(job))
