"""The influence of every training image on the targets of an analysis, with error bars (`atlas`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.analysis.division import Division
from datamodels_inf.analysis.fitting import Fitted
from datamodels_inf.analysis.inputs import Data
from datamodels_inf.atlas import AtlasMaker
from datamodels_inf.contrast import effect_interval
from datamodels_inf.findings import MARGINAL, Family, Rule
from datamodels_inf.influence_tail import Tail
from datamodels_inf.internal.checks import Floats, Ints

STRATIFIED = (
    "the masks are stratified by class, so that an image can only be compared with others of its class, not with an "
    "average image"
)


@dataclass(frozen=True, eq=False)
class InfluencesOn:
    """Of all images on one target: estimates, standard errors, the family that decides about findings, tail."""

    estimate: Floats
    standard_error: Floats
    n_models: int
    family: Family
    tail: Tail | None

    @property
    def pvalue(self) -> Floats:
        """Asymptotic; see `influence`."""
        return self.family.pvalue

    def interval(self, confidence: Floats | float = MARGINAL) -> tuple[Floats, Floats]:
        """(low, high), of an image named in advance."""
        return effect_interval(self.estimate, self.standard_error, np.full(1, self.n_models - 1.0), confidence)

    def columns(self, theta: Floats) -> dict[str, NDArray[Any]]:
        """A table of all images, in their order. low_selected, high_selected: of findings, NaN for the others."""
        low, high = self.interval()
        found = self.family.found
        selected = self.interval(np.where(found, self.family.levels, MARGINAL))
        return {
            "image": np.arange(len(self.estimate)),
            "estimate": self.estimate,
            "low": low,
            "high": high,
            "standard_error": self.standard_error,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.family.adjusted,
            "finding": found,
            "low_selected": np.where(found, selected[0], np.nan),
            "high_selected": np.where(found, selected[1], np.nan),
            "theta": theta,
        }


@dataclass(frozen=True, eq=False)
class TestedInfluences:
    """The tested rows, ready to be asked for the influences on any fitted target."""

    data: Data
    division: Division
    fitted: Fitted
    rule: Rule
    threads: int

    @cached_property
    def _maker(self) -> AtlasMaker:
        start, stop = self.division.tested
        bounds = [first - start for first, _ in self.division.blocks] + [stop - start]
        return AtlasMaker(self.data.masks.rows(start, stop), self.threads, bounds=bounds)

    def on(self, targets: Ints) -> list[InfluencesOn]:
        """Of each of `targets`, which must have a datamodel; each is a family of its own."""
        places = self.fitted.places(targets)
        datamodels = [datamodel.subset(places) for datamodel in self.fitted.datamodels]
        tile = self._maker.tile(range(len(targets)), self.data.outcomes_of(self.division.tested, targets), datamodels)
        rows = zip(tile.estimate, tile.standard_error, tile.pvalue, tile.tails or [None] * len(targets), strict=True)
        return [InfluencesOn(estimate, error, tile.n, Family(p, self.rule), tail) for estimate, error, p, tail in rows]
