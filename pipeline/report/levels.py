"""The level of the findings' own intervals: one for all of a method, or by the weight of each."""

from __future__ import annotations

import math

import numpy as np

from datamodels_inf.findings import MARGINAL, finding_level
from datamodels_inf.multiplicity import selected_confidence
from pipeline.report.content import Content
from pipeline.report.groups import Group
from pipeline.text.interval_levels import level_range_text, level_text


def finding_levels(group: Group, content: Content) -> tuple[float, float]:
    """The lowest and the highest level of the findings of one method, never below 95 %; NaN without a finding.

    With a prior a finding of weight w has the level 1 − w·p*, p* = α·β(R)/m, else all have the same.
    """
    m, found = group.n_tests, group.n_found
    if not found:
        return math.nan, math.nan
    shape = content.shape_of(group.method)
    if shape is None:
        level = finding_level(content.correction, content.alpha, m, found)
        return level, level
    one = selected_confidence(content.correction, content.alpha, m, found, shape=shape)
    weight = group.added["weight"][group.places]
    levels = np.maximum(MARGINAL, 1.0 - np.minimum(1.0, weight * (1.0 - one)))
    return float(levels.min()), float(levels.max())


def levels_text(low: float, high: float) -> str:
    """ "99.3 %", or "99.2 % to 99.8 %, by its weight"; empty where no level is above 95 %.

    >>> levels_text(0.9933, 0.9933), levels_text(0.95, 0.9933), levels_text(0.95, 0.95)
    ('99.3 %', '95.0 % to 99.3 %, by its weight', '')
    """
    if not high > MARGINAL:
        return ""
    return level_text(low) if low == high else f"{level_range_text(low, high)}, by its weight"
