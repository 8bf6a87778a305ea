"""Models as units of work: a few of them each, whose masks are drawn where they are trained, by one thread.

So margins depend neither on cores nor on the order or the place, and no masks travel.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.counterfactual import Swapped
from datamodels_inf.internal.cores import blas_threads
from datamodels_inf.training.draws import draw_masks
from pipeline.errors import BadInputError
from pipeline.places.base import Advance
from pipeline.store.unfinished_steps import Arrays
from pipeline.training.any_job import AnyJob
from pipeline.training.inputs import Inputs, read_inputs
from pipeline.training.job import Job


@dataclass(frozen=True)
class Models:
    """Models first to stop − 1 of a seed, on masks of the job's own law."""

    seed: int
    first: int
    stop: int

    def masks(self, job: AnyJob) -> NDArray[np.bool_]:
        """A row for each model."""
        return draw_masks(job.n_train, self.first, self.stop, seed=self.seed, proportion=job.proportion, law=job.law)


@dataclass(frozen=True)
class CoupledModels(Models):
    """One side of couples: 0 with the left group in and the right one out, 1 the reverse.

    Models of both sides of a couple have one seed and one number, so that they start from the same weights.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    side: int

    def masks(self, job: AnyJob) -> NDArray[np.bool_]:
        """A row for each model."""
        swapped = Swapped(job.n_train, self.left, self.right, job.proportion, job.law)
        return swapped.couples(self.first, self.stop, seed=self.seed)[self.side]


@dataclass(frozen=True)
class Training:
    """Models of a job; `inputs` is the file of what they see."""

    job: Job
    inputs: Path

    def size(self, unit: Models) -> float:
        """As many steps of the bar as it has models."""
        return unit.stop - unit.first

    def open(self, threads: int) -> Trainer:
        """With one thread whatever it may use: more would change the bits."""
        return Trainer(self.job, read_inputs(self.inputs, self.job))


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains models by one thread, so that their bits are the same every time."""

    job: Job
    inputs: Inputs

    def __call__(self, unit: Models, advance: Advance, /) -> Arrays:
        """Their margins, (models, targets) float32."""
        import torch

        from datamodels_inf.training.train import train_margins

        inputs, labels = self.inputs, self.inputs.labels
        with blas_threads(1):  # Each time: whoever calls may have set a limit of more, which is torch's limit too.
            torch.set_num_threads(1)
            margins = train_margins(
                inputs.train,
                labels.train_labels,
                inputs.targets,
                labels.target_labels,
                unit.masks(self.job),
                first=unit.first,
                recipe=self.job.recipe,
                seed=unit.seed,
                n_classes=len(labels.class_names),
            )
        if not np.isfinite(margins).all():
            raise BadInputError("the training diverged: margins are infinite or NaN; lower --learning-rate.")
        advance(len(margins))
        return {"margins": margins}
