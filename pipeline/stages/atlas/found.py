"""Which influences of an atlas are findings: the one place that holds a p-value, over its weight, against the limit.

No table of p-values is kept, and few are computed: those of influences large enough that they may be findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.findings import MARGINAL
from datamodels_inf.influence import influence_quantile
from datamodels_inf.internal.checks import Floats
from pipeline.arrays import open_npz
from pipeline.stages.atlas.tiles import Atlas
from pipeline.stages.atlas.weights import ALL, AtlasCells, AtlasWeights, Chosen
from pipeline.stages.prior.evidence import Evidence
from pipeline.store.cache import Result
from pipeline.summaries import InfluenceSummary, read_summary

SMALLEST = 1e-290
"""Of smaller p-values no quantile is asked for: they may be so small that they are 0."""


@dataclass(frozen=True, eq=False)
class Found:
    """limit: of each place, the largest p/w of a finding, −1 where there is none. level: that of the interval of a
    finding of weight 1, NaN where there is none. weights: w, None where all are 1.
    """

    atlas: Atlas
    limit: Floats
    level: Floats
    weights: AtlasWeights | None = None

    @classmethod
    def read(cls, inputs: Mapping[str, Result]) -> Found:
        """From the results of the stages influence, atlas, and evidence where there is one."""
        atlas, summary = Atlas.of(inputs["atlas"]), read_summary(inputs["influence"], InfluenceSummary)
        with open_npz(inputs["influence"].folder / "findings.npz") as arrays:
            weights = None
            if "prior_bounds" in arrays:
                cells = AtlasCells(atlas, evidence_in(inputs))
                weights = AtlasWeights.read(arrays, cells, together=summary.family == "all")
            return cls(atlas, arrays["limit"], arrays["level"], weights)

    def is_finding(self, place: int, images: Chosen = ALL) -> NDArray[np.bool_]:
        """Which of `images` are findings on the target at a place."""
        limit = float(self.limit[place])
        return np.asarray(scaled_pvalues(self.atlas, place, images, self.weights, limit) <= limit)

    def of_image(self, image: int) -> NDArray[np.bool_]:
        """On which targets of the atlas an image is a finding."""
        weight = 1.0 if self.weights is None else self.weights.of_image(image)
        return np.asarray(self.atlas.pvalues_of_image(*self.atlas.of_image(image)) / weight <= self.limit)

    def levels(self, place: int, images: Chosen = ALL) -> Floats:
        """That of the interval of each of `images`, should it be a finding, never below MARGINAL."""
        weight = self._weight(place, images)
        return np.asarray(np.maximum(MARGINAL, 1.0 - np.minimum(1.0, weight * (1.0 - self.level[place]))))

    def level_range(self, place: int) -> tuple[float, float]:
        """The smallest and the largest that a finding on the target at a place may have."""
        least, most = (1.0, 1.0) if self.weights is None else self.weights.extremes(place)
        low, high = (max(MARGINAL, 1.0 - w * (1.0 - float(self.level[place]))) for w in (most, least))
        return low, high

    def _weight(self, place: int, images: Chosen) -> Floats:
        n_train = self.atlas.summary.n_train
        return np.ones(n_train)[images] if self.weights is None else self.weights.of_target(place, images)


def evidence_in(inputs: Mapping[str, Result]) -> Evidence | None:
    """That of the fit rows, where there is any."""
    if "evidence" not in inputs:
        return None
    evidence = Evidence.of(inputs["evidence"])
    return None if evidence.summary.reason else evidence


def scaled_pvalues(atlas: Atlas, place: int, images: Chosen, weights: AtlasWeights | None, limit: float) -> Floats:
    """p/w of `images` on the target at a place, infinite where it is larger than `limit`: most p are not computed then.

    p/w ≤ limit needs p ≤ limit·max w, and so an |estimate/standard error| of its quantile at least.
    """
    estimate, error = (values[images] for values in atlas.of_target(place))
    scaled = np.full(estimate.shape, np.inf)
    if limit < 0.0:
        return scaled
    weight = np.ones(estimate.shape) if weights is None else weights.of_target(place, images)
    largest = min(1.0, limit * float(weight.max(initial=0.0)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = np.float32(0.999 * influence_quantile(max(largest, SMALLEST), atlas.summary.n_models))
        large = np.abs(estimate) / error >= least
    scaled[large] = atlas.pvalue(place, estimate[large], error[large]) / weight[large]
    return np.where(scaled <= limit, scaled, np.inf)
