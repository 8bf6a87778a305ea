"""Couples of fresh models for all claims, trained in one pool: each finished batch is a file that outlives a kill.

Claims of one pair share their models, on whatever targets they are and whichever image comes first: a couple's margins
on all targets cost nothing, and only those that are asked for are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.counterfactual import Retrained, Swapped
from pipeline.errors import BadInputError
from pipeline.places.base import Place
from pipeline.progress import progress_bar
from pipeline.store.unfinished_steps import read_again, read_step, save_step
from pipeline.training.trained_set import TrainedSet
from pipeline.training.work import CoupledModels
from pipeline.verified import Claim, Verified

CHUNK = 64
"""Couples whose models of one side are trained together; changes no result."""
Sides: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Step:
    """The models of one side (0: with the left group, 1: with the right) of couples first..last−1 of a pair."""

    pair: int
    side: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """Of its file."""
        return f"couples-{self.pair:06d}-{self.side}-{self.first:09d}.npz"


def sides_of(claim: Claim) -> Sides:
    """Its two groups in an order that does not depend on which of them is i, nor on the order of their members."""
    left, right = sorted((tuple(sorted(claim.members_i)), tuple(sorted(claim.members_j))))
    return left, right


@dataclass(frozen=True, eq=False)
class Couples:
    """n_couples of each pair of `claims`, with models like those of `trained` but of seeds of their own."""

    trained: TrainedSet
    claims: Sequence[Claim]
    n_couples: int
    seed: int
    unfinished: Path
    place: Place
    quiet: bool
    say: Callable[[str], object]

    @cached_property
    def targets(self) -> dict[Sides, NDArray[np.int64]]:
        """Of each pair, the targets that are asked for."""
        asked: dict[Sides, set[int]] = {}
        for claim in self.claims:
            asked.setdefault(sides_of(claim), set()).add(claim.target)
        return {sides: np.array(sorted(targets), np.int64) for sides, targets in asked.items()}

    @property
    def n_models(self) -> int:
        """How many are trained in all."""
        return 2 * self.n_couples * len(self.targets)

    def verified(self) -> list[Verified]:
        """Train what is missing, and hold every claim against its couples."""
        self._train()
        return [self._verified(claim) for claim in self.claims]

    def _train(self) -> None:
        for sides in self.targets:
            self._swapped(sides)  # One that cannot be is told before anything is trained.
        steps = list(self._steps())
        missing = [step for step in steps if self._read(step) is None]
        if len(missing) < len(steps):
            self.say(f"going on: {len(steps) - len(missing):,} of {len(steps):,} batches of models are there")
        if not missing:
            return
        left = sum(step.last - step.first for step in missing)
        steps_of = {self._models(step): step for step in missing}
        with progress_bar(self.n_models, "model", "verify", self.quiet) as advance:
            advance(self.n_models - left)
            training = self.trained.training(self.place, self.unfinished)
            for models, trained in self.place.done(training, steps_of, advance):
                step = steps_of[models]
                kept = self.trained.job.kept(trained["margins"][:, self._asked(step)])
                save_step(self.unfinished / step.name, {"margins": kept})

    def _steps(self) -> Iterator[Step]:
        size = self.trained.job.batch(self.n_models, CHUNK)
        for pair in range(len(self.targets)):
            for first in range(0, self.n_couples, size):
                for side in (0, 1):
                    yield Step(pair, side, first, min(first + size, self.n_couples))

    def _read(self, step: Step) -> NDArray[np.float32] | None:
        path = self.unfinished / step.name
        found = read_step(path, lambda damage: self.say(f"{damage}; its models are trained again"))
        return None if found is None else found["margins"]

    def _asked(self, step: Step) -> NDArray[np.int64]:
        return list(self.targets.values())[step.pair]

    def _models(self, step: Step) -> CoupledModels:
        sides = list(self.targets)[step.pair]
        seed = self.trained.fresh_seed(f"verify {sides}", self.seed)
        return CoupledModels(seed, step.first, step.last, *sides, step.side)

    def _swapped(self, sides: Sides) -> Swapped:
        job = self.trained.job
        try:
            return Swapped(job.n_train, *sides, job.proportion, job.law)
        except ValueError as error:
            raise BadInputError(
                f"the groups {' '.join(map(str, sides[0]))} and {' '.join(map(str, sides[1]))} cannot be forced in and "
                f"out: {error}"
            ) from error

    @cached_property
    def _margins(self) -> dict[Sides, NDArray[np.float32]]:
        """(2, n_couples, targets asked for) of each pair."""
        parts: dict[tuple[int, int], list[NDArray[np.float32]]] = {}
        for step in self._steps():
            parts.setdefault((step.pair, step.side), []).append(read_again(self.unfinished / step.name)["margins"])
        return {
            sides: np.stack([np.concatenate(parts[pair, side]) for side in (0, 1)])
            for pair, sides in enumerate(self.targets)
        }

    def _verified(self, claim: Claim) -> Verified:
        sides = sides_of(claim)
        column = int(np.searchsorted(self.targets[sides], claim.target))
        with_left, with_right = self._margins[sides][:, :, column]
        turned = sides[0] != tuple(sorted(claim.members_i))
        fresh = Retrained.of(with_right, with_left) if turned else Retrained.of(with_left, with_right)
        return Verified.of(claim, fresh)
