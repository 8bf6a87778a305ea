"""A set that `train` made, ready to train more models of the same kind."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
from pipeline.sources import SOURCES
from pipeline.store.files import file_digest
from pipeline.training.inputs import FEATURE_FILE, Features, Inputs
from pipeline.training.job import Job

if TYPE_CHECKING:
    from pipeline.config import Config


@dataclass(frozen=True, eq=False)
class TrainedSet:
    """How its models were trained, and the file of what they saw."""

    job: Job
    inputs_file: Path

    @classmethod
    def of(cls, config: Config, who: str) -> TrainedSet:
        """That of the configured source; `who` needs one."""
        folder = SOURCES[config.source.kind].trained(config.source)
        if folder is None:
            raise BadInputError(
                f"{who} trains more models like those of the source, but this source was not made by "
                "datamodels-inf train, so that nobody here knows how."
            )
        try:
            job = Job.of_json(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["job"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInputError(
                f"{folder / 'manifest.json'} does not say how its models were trained; make the set again."
            ) from error
        return cls(job, folder / (FEATURE_FILE if job.features is not None else "images.npz"))

    @property
    def content(self) -> dict[str, object]:
        """What the margins of fresh models depend on, for a key."""
        if not self.inputs_file.is_file():
            raise BadInputError(f"{self.inputs_file} does not exist; the set is not complete.")
        job = {name: value for name, value in self.job.as_json().items() if name not in ("n_models", "margin_step")}
        return {"job": job, "inputs": file_digest(self.inputs_file)}

    def inputs(self) -> Inputs:
        """What models see."""
        if self.job.features is not None:
            return Features.load(self.inputs_file).inputs
        return Inputs.of_pixels(ImageSet.load(self.inputs_file))

    def fresh_seed(self, purpose: str, seed: int) -> int:
        """A seed for models that share no random number with those of the set, or of another purpose."""
        words = f"{purpose} {self.job.seed} {seed}".encode()
        return int.from_bytes(hashlib.sha256(words).digest()[:8], "big")
