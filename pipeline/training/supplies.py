"""What the models of a set need beside their masks: it lies with the unfinished parts, for all who train them, and then
in the set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
from pipeline.places.base import Work
from pipeline.store.files import file_digest, whole_file
from pipeline.training.any_job import AnyJob
from pipeline.training.function_job import FunctionJob
from pipeline.training.function_work import FunctionTraining
from pipeline.training.inputs import FEATURE_FILE, Features, images_digest
from pipeline.training.job import Job
from pipeline.training.work import Models, Training

IMAGE_FILE = "images.npz"


class Supplies(Protocol):
    """Of one job."""

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
        """Features that are there are kept whoever made them: all models must see the same. Damaged images are written
        anew."""
        inputs = folder / (IMAGE_FILE if self.make_features is None else FEATURE_FILE)
        if self.make_features is not None and not inputs.is_file():
            self.make_features().save(inputs)
        if IMAGE_FILE in kept_files(self.job, folder) and not _has_images(folder, self.job):
            with whole_file(folder / IMAGE_FILE) as temporary:
                self.images.save(temporary)
        return Training(self.job, inputs.absolute())


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
            if not _is_whole(folder / name, self.job.files[name]):
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
        for name, digest in job.files.items():
            if not _is_whole(folder / name, digest):
                raise BadInputError(f"{folder / name} is missing or damaged; run one of its shards again.")
    elif IMAGE_FILE in kept_files(job, folder) and not _has_images(folder, job):
        raise BadInputError(f"{folder / IMAGE_FILE} is missing or damaged; run one of its shards again.")


def _is_whole(path: Path, digest: str) -> bool:
    return path.is_file() and file_digest(path) == digest


def _has_images(folder: Path, job: Job) -> bool:
    with suppress(BadInputError):
        return images_digest(ImageSet.load(folder / IMAGE_FILE)) == job.images_sha256
    return False
