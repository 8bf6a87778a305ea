"""Models of the user's own function as units of work: with the same machinery as networks of ours, and one contract:
the same mask and seed give the same outcomes."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.cores import blas_threads
from datamodels_inf.training.draws import model_seed
from pipeline.errors import BadInputError, WorkStoppedError
from pipeline.places.base import Advance
from pipeline.store.unfinished_steps import Arrays
from pipeline.training.function_job import FunctionJob
from pipeline.training.own_function import OwnFunction, in_words
from pipeline.training.work import Models

RETRIES = 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What libraries look at that are loaded later, by the function."""
REMEDY = (
    "draw everything random from `seed` (numpy.random.default_rng(seed), random_state=seed, torch.manual_seed(seed); "
    "on a GPU also torch.use_deterministic_algorithms(True)), or allow it with --set train.repeatable=false: tests "
    "stay valid, but the same command makes another set each time"
)


@dataclass(frozen=True)
class FunctionTraining:
    """folder: that the function is imported from, by its absolute path. retries: how often a model that failed is tried
    again. repeatable: whether the first model of the set must give the same outcomes twice."""

    job: FunctionJob
    folder: Path
    retries: int = RETRIES
    repeatable: bool = True

    def size(self, unit: Models) -> float:
        """As many steps of the bar as it has models."""
        return unit.stop - unit.first

    def open(self, threads: int) -> FunctionTrainer:
        """With one thread whatever it may use: more would change bits. The function must be that of the job."""
        os.environ.update(dict.fromkeys(THREADS, "1"))
        found = OwnFunction.find(self.job.function, self.folder, anew=True)
        check_function(self.job, found)
        if "torch" in sys.modules:
            import torch

            torch.set_num_threads(1)
        return FunctionTrainer(self, found)


def check_function(job: FunctionJob, found: OwnFunction) -> None:
    """Refuse a function that was changed since models of the job were trained."""
    if found.sha256 != job.source_sha256:
        raise BadInputError(
            f"{found.file} is not as it was when models were trained by {job.function}, so that others would not be "
            "like them; undo the change, or make the set again."
        )


@dataclass(frozen=True, eq=False)
class FunctionTrainer:
    """Asks the function for one model after the other."""

    training: FunctionTraining
    function: OwnFunction

    def __call__(self, unit: Models, advance: Advance, /) -> Arrays:
        """Their outcomes, (models, targets) float32."""
        job = self.training.job
        outcomes = np.empty((unit.stop - unit.first, job.n_targets), np.float32)
        for row, mask in enumerate(unit.masks(job)):
            model = unit.first + row
            outcomes[row] = self._outcomes(mask, unit.seed, model)
            if self.training.repeatable and (type(unit), unit.seed, model) == (Models, job.seed, 0):
                self._check_repeats(outcomes[row], self._outcomes(mask, unit.seed, model))
            advance(1)
        return {"margins": outcomes}

    def _outcomes(self, mask: NDArray[np.bool_], seed: int, model: int) -> NDArray[np.float32]:
        """Of one model, which is tried again if it fails."""
        tries = self.training.retries + 1
        for left in reversed(range(tries)):
            try:
                with blas_threads(1):  # Each time: the function may have loaded another library.
                    given = self.function.call(mask.copy(), model_seed(seed, model))
                break
            except (Exception, SystemExit) as error:  # Of a function that is not ours, anything.
                if not left:
                    times, last = ("", "") if tries == 1 else (f" {tries:,} times", ", at last")
                    raised = in_words(error, self.function.file)
                    raise WorkStoppedError(
                        f"{self.function.name} failed{times} for model {model:,}{last} with {raised}; what was "
                        "finished is kept, and the same command goes on from there."
                    ) from error
        return self._checked(given, model)

    def _checked(self, given: Any, model: int) -> NDArray[np.float32]:
        name, n_targets = f"{self.function.name} gave for model {model:,}", self.training.job.n_targets
        try:
            outcomes = _numbers(given)
        except Exception as error:  # Of a type that is not ours, anything.
            raise BadInputError(
                f"{name} a {type(given).__name__} that is no array of numbers ({' '.join(str(error).split())[:120]}); "
                f"return {n_targets:,} numbers, one a target."
            ) from error
        if outcomes.shape == () and n_targets == 1:
            outcomes = outcomes.reshape(1)
        if outcomes.shape != (n_targets,):
            raise BadInputError(f"{name} an array of shape {outcomes.shape}; return {n_targets:,} numbers (--targets).")
        with np.errstate(over="ignore"):
            small = outcomes.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(small))
        if len(bad):
            raise BadInputError(
                f"{name} the outcome {outcomes[bad[0]]} on target {bad[0]:,}; outcomes must be finite numbers, at most "
                "3e38."
            )
        return small

    def _check_repeats(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> None:
        different = np.flatnonzero(first != second)
        if len(different):
            target = different[0]
            raise BadInputError(
                f"{self.function.name} gave {first[target]} and then {second[target]} on target {target:,} for one "
                f"model, trained twice with the same mask and seed: {REMEDY}."
            )


def _numbers(given: Any) -> NDArray[np.float64]:
    """An array, a list of numbers, a tensor; anything else is an error of some kind."""
    if np.ma.is_masked(given):  # Behind what is masked numpy keeps any number.
        raise ValueError("some of it is masked")
    array = np.asarray(given)
    if array.dtype.kind == "O":  # Numbers of another library; None is no number.
        return np.array([float(value) for value in array.ravel()], np.float64).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"it has the type {array.dtype}")
    return array.astype(np.float64)
