"""A set that `train` made, ready to train more models of the same kind."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.arrays import map_npy
from pipeline.errors import BadInputError
from pipeline.places.base import Place, Work
from pipeline.sources import SOURCES
from pipeline.store.files import file_digest
from pipeline.text.sealed_json import read_sealed
from pipeline.training.any_job import AnyJob, job_of_json
from pipeline.training.function_job import FunctionJob
from pipeline.training.function_work import RETRIES, FunctionTraining, check_function
from pipeline.training.inputs import FEATURE_FILE
from pipeline.training.own_function import OwnFunction
from pipeline.training.work import Models, Training

if TYPE_CHECKING:
    from pipeline.config import Config


@dataclass(frozen=True, eq=False)
class TrainedSet:
    """How its models were trained, and the file of what they saw, with its checksum: for a function of the user's, none
    that is known. retries: of such a function."""

    job: AnyJob
    inputs_file: Path | None
    inputs_sha256: str
    retries: int = RETRIES

    @classmethod
    def of(cls, config: Config, who: str) -> TrainedSet:
        """That of the configured source; `who` says what needs one, where there is none."""
        folder = SOURCES[config.source.kind].trained(config.source)
        if folder is None:
            raise BadInputError(
                f"{who} trains more models like those of the source, but this source was not made by "
                "datamodels-inf train, so that nobody here knows how."
            )
        try:
            manifest = read_sealed(folder / "manifest.json")
            job, digests = job_of_json(manifest["job"]), manifest["sha256"]
            if isinstance(job, FunctionJob):
                retries = config.train.retries
                made = cls(job, None, "", RETRIES if retries is None else retries)
            else:
                name = FEATURE_FILE if job.features is not None else "images.npz"
                made = cls(job, folder / name, str(digests[name]))
        except (BadInputError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInputError(
                f"{folder / 'manifest.json'} does not say how its models were trained; make the set again."
            ) from error
        _check_masks(folder / "masks.npy", job)
        return made

    @property
    def content(self) -> dict[str, object]:
        """What the margins of fresh models depend on, for a key."""
        job = {name: value for name, value in self.job.as_json().items() if name not in ("n_models", "files")}
        if self.inputs_file is None:
            return {"job": job}
        if not self.inputs_file.is_file():
            raise BadInputError(f"{self.inputs_file} does not exist; the set is not complete.")
        if file_digest(self.inputs_file) != self.inputs_sha256:
            raise BadInputError(
                f"{self.inputs_file} is damaged: its checksum is not that of its manifest, and models trained on it "
                "would not be like those of the set; get the set again."
            )
        return {"job": job, "inputs": self.inputs_sha256}

    def training(self, place: Place, folder: Path) -> Work[Models]:
        """More models of the same kind, as units of work; `folder` is for what a place could not read otherwise.

        A function of the user's is that of the folder the command runs in, and must be the one that trained the set.
        """
        if isinstance(self.job, FunctionJob):
            found = OwnFunction.find(self.job.function, Path.cwd())
            check_function(self.job, found)
            return FunctionTraining(self.job, found.folder, self.retries)
        assert self.inputs_file is not None
        return Training(self.job, place.visible(self.inputs_file.absolute(), folder))

    def fresh_seed(self, purpose: str, seed: int) -> int:
        """A seed for models that share no random number with those of the set, or of another purpose."""
        words = f"{purpose} {self.job.seed} {seed}".encode()
        return int.from_bytes(hashlib.sha256(words).digest()[:8], "big")


LOOKED_AT = 256
"""Masks of a set that are held against its manifest."""


def _check_masks(path: Path, job: AnyJob) -> None:
    """Fresh masks are drawn by the manifest's law, so the set's own must be of it."""
    try:
        bits = map_npy(path)[:LOOKED_AT]
        masks = np.unpackbits(np.ascontiguousarray(bits), axis=1)
    except (OSError, ValueError, EOFError, TypeError, IndexError) as error:
        raise BadInputError(f"{path} is not a whole array of masks; get the set again.") from error
    n, sizes = job.n_train, masks[:, : job.n_train].sum(axis=1, dtype=np.int64)
    spread = np.sqrt(n * job.proportion * (1.0 - job.proportion)) * (job.law == "bernoulli")
    fits = np.abs(sizes - round(job.proportion * n)) <= 8.0 * spread + 1.0 * (spread > 0)
    if masks.shape[1] != 8 * ((n + 7) // 8) or masks[:, n:].any() or not fits.all():
        raise BadInputError(
            f"{path} does not hold masks as its manifest says they were drawn ({job.law}, {job.proportion:g} of {n:,} "
            "images), so that fresh models would not be like those of the set; get the set again."
        )
