"""Everything that the margins of a set depend on, as its manifest holds it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from datamodels_inf.training.draws import Law
from datamodels_inf.training.recipe import PatchRecipe, Recipe


@dataclass(frozen=True)
class Job:
    """features: how they were made of the images; None where models see pixels. margin_step: margins are kept as whole
    multiples of it; None for float16."""

    dataset: str
    n_train: int
    n_targets: int
    images_sha256: str
    n_models: int
    recipe: Recipe
    seed: int
    proportion: float
    law: Law
    features: PatchRecipe | None = None
    margin_step: float | None = None

    def __post_init__(self) -> None:
        if min(self.n_train, self.n_targets, self.n_models) < 1 or not 0 <= self.seed < 2**64:
            raise ValueError("its numbers of images, targets or models, or its seed, are impossible")
        if not 0.0 < self.proportion < 1.0:
            raise ValueError("its proportion does not lie between 0 and 1")
        if self.margin_step is not None and not 0.0 < self.margin_step < math.inf:
            raise ValueError("its margin_step is no positive number")

    def kept(self, margins: NDArray[np.float32]) -> NDArray[np.float32]:
        """Margins as they are read from a set of this job: in its steps, or as float16."""
        if self.margin_step is None:
            return margins.astype(np.float16).astype(np.float32)
        return np.asarray(np.rint(margins / self.margin_step), np.float32) * np.float32(self.margin_step)

    def batch(self, n_models: int, usual: int) -> int:
        """How many of so many models are trained together: as usual, for they are small and trained in blocks."""
        return usual

    def as_json(self) -> dict[str, Any]:
        """For a manifest."""
        return asdict(self)

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Job:
        """From a manifest, older ones included, which lack what has a default; else a ValueError."""
        kinds = {"": cls, "recipe": Recipe, "features": PatchRecipe}
        for name, kind in kinds.items():
            part = found.get(name) if name else found
            if part is not None and not (isinstance(part, Mapping) and part.keys() <= {f.name for f in fields(kind)}):
                raise ValueError("it is no job of `train`")
        return _adapter().validate_json(json.dumps(found), strict=True)


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """In what two jobs differ, as JSON has them: "n_models 400 and 500, recipe.steps 5 and 6"."""
    first, second = dict(_flat(one)), dict(_flat(other))
    names = [name for name in (first | second) if first.get(name) != second.get(name)]
    return ", ".join(f"{name} {first.get(name)} and {second.get(name)}" for name in names)


def _flat(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


@cache
def _adapter() -> TypeAdapter[Job]:
    return TypeAdapter(Job)
