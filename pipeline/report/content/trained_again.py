"""Claims held against fresh models: the rows of `verify`, and what is drawn of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.effects import Estimated
from pipeline.verified import Verified


@dataclass(frozen=True)
class Estimate(Estimated):
    """One of the two estimates of Δ; the selected interval is that of a finding, NaN for none."""

    effect: float
    effect_low: float
    effect_high: float
    effect_low_selected: float = math.nan
    effect_high_selected: float = math.nan

    @classmethod
    def claimed(cls, row: Verified) -> Estimate:
        """That of the tested models."""
        ends = row.effect_low, row.effect_high, row.effect_low_selected, row.effect_high_selected
        return cls(row.effect, *ends)

    @classmethod
    def fresh(cls, row: Verified) -> Estimate:
        """That of the fresh ones."""
        return cls(row.fresh_effect, row.fresh_low, row.fresh_high)


@dataclass(frozen=True)
class TrainedAgain:
    """method: whose findings, empty for a pair. n_models in all, n_couples for each pair of images."""

    method: str
    n_models: int
    n_couples: int
    rows: tuple[Verified, ...]
