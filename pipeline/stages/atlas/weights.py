"""Weights for the influences of an atlas: each target a family of its own, or all together, in streaming passes.

A test sees what the fit rows saw, with an error √(n_fit/n_test) times as large, n_test the tested rows, counted as rows
of the first fit (`rows_to_come`). Only the weights of cells are kept;
that of an influence is looked up by its evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.prediction import CountedFamily, Prediction, evidence_cells, predict, without_prediction
from datamodels_inf.prediction.family import UNKNOWN
from pipeline.places.base import Advance
from pipeline.stages.atlas.tiles import Atlas
from pipeline.stages.prior.evidence import Evidence

Chosen: TypeAlias = Ints | slice
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class AtlasCells:
    """The cell of every influence of an atlas (`evidence_cells`); UNKNOWN for all without evidence."""

    atlas: Atlas
    evidence: Evidence | None

    def of_target(self, place: int, images: Chosen = ALL) -> Ints:
        """Of `images` on the target at a place of the atlas."""
        if self.evidence is None:
            return np.full(self.atlas.summary.n_train, UNKNOWN)[images]
        estimate, error = (values[images] for values in self.evidence.on(self.atlas.summary.targets[place]))
        return self._cells(self.evidence, estimate, error)

    def of_image(self, image: int) -> Ints:
        """Of one image on all targets of the atlas."""
        if self.evidence is None:
            return np.full(len(self.atlas.summary.targets), UNKNOWN)
        places = self.evidence.places(self.atlas.targets)
        estimate, error = (values[places].astype(np.float64) for values in self.evidence.of_image(image))
        return self._cells(self.evidence, estimate, error)

    def _cells(self, evidence: Evidence, estimate: Floats, error: Floats) -> Ints:
        said = evidence.summary
        return evidence_cells(estimate, error, error * np.sqrt(said.n_models / said.n_to_come))


@dataclass(frozen=True, eq=False)
class AtlasWeights:
    """w of every influence. families: one a target, or one for all; cell_weight: w of the cells of each."""

    cells: AtlasCells
    families: Sequence[CountedFamily]
    cell_weight: Sequence[Floats]
    together: bool

    @classmethod
    def of(cls, cells: AtlasCells, predictions: Sequence[Prediction], *, together: bool) -> AtlasWeights:
        """From what is expected of each family."""
        return cls(cells, [one.family for one in predictions], [one.cell_weight for one in predictions], together)

    def of_target(self, place: int, images: Chosen = ALL) -> Floats:
        """Of `images` on the target at a place."""
        return self._look_up(place, self.cells.of_target(place, images))

    def of_image(self, image: int) -> Floats:
        """Of one image on all targets."""
        cells = self.cells.of_image(image)
        return np.array([float(self._look_up(place, cells[[place]])[0]) for place in range(len(cells))])

    def extremes(self, place: int) -> tuple[float, float]:
        """The smallest and the largest weight of the family that a target belongs to."""
        weight = self.cell_weight[0 if self.together else place]
        return float(weight.min()), float(weight.max())

    def _look_up(self, place: int, cells: Ints) -> Floats:
        number = 0 if self.together else place
        return self.families[number].look_up(self.cell_weight[number], cells)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `read` reads, by name, for a file."""
        bounds = np.cumsum([0, *(len(family.cells) for family in self.families)])
        return {
            "prior_bounds": bounds,
            "prior_cells": np.concatenate([np.zeros(0, np.int64), *(family.cells for family in self.families)]),
            "prior_count": np.concatenate([np.zeros(0, np.int64), *(family.count for family in self.families)]),
            "prior_weight": np.concatenate([np.zeros(0), *self.cell_weight]),
        }

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], cells: AtlasCells, *, together: bool) -> AtlasWeights:
        """What `arrays` gave."""
        parts = [
            np.split(arrays[f"prior_{name}"], arrays["prior_bounds"][1:-1]) for name in ("cells", "count", "weight")
        ]
        families = [CountedFamily(*both) for both in zip(*parts[:2], strict=True)]
        return cls(cells, families, parts[2], together)


def predictions_of_targets(cells: AtlasCells, alpha: float, reason: str, advance: Advance) -> list[Prediction]:
    """Of each target; reason: why there is no prediction, empty where there may be one."""
    found = []
    for place in range(len(cells.atlas.summary.targets)):
        found.append(_predict(CountedFamily.of(cells.of_target(place)), alpha, reason))
        advance(1)
    return found


def prediction_over_all(cells: AtlasCells, alpha: float, reason: str, advance: Advance) -> list[Prediction]:
    """Of all targets together, in one."""
    places = range(len(cells.atlas.summary.targets))
    if not places:
        return []
    family = reduce(add, (CountedFamily.of(cells.of_target(place)) for place in places))
    advance(len(places))
    return [_predict(family, alpha, reason)]


def _predict(family: CountedFamily, alpha: float, reason: str) -> Prediction:
    return without_prediction(family, alpha, reason) if reason else predict(family, alpha=alpha)
