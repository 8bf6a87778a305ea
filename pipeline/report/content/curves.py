"""The curve of a test."""

from __future__ import annotations

from dataclasses import dataclass

from datamodels_inf.methods import CurveKind


@dataclass(frozen=True)
class Curve:
    """The ordinal dominance curve (PP plot) of the two samples that a test compares.

    kind: what the two samples are.
    x, y: shares of the first and of the second sample up to each of some thresholds, from 0 to 1.
    area: under the curve, P(first ≥ second) with ties counted half; ½ if both have the same law.
    """

    kind: CurveKind
    x: tuple[float, ...]
    y: tuple[float, ...]
    area: float
