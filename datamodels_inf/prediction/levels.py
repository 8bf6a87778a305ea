"""Levels for each test that make the expected number of rejections largest (Roeder & Wasserman 2009; Storey 2007).

Maximise Σ P(p_i ≤ t_i) where Σ t_i = m·u and no t_i is below least·u. By Lagrange t_i = max(least·u, the level at which
the density ratio of test i is λ), with the λ that makes the sum right. Weights are w_i = t_i/u.
"""

from __future__ import annotations

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.prediction.outlook import Outlook

BISECTIONS = 60


def best_weights(outlook: Outlook, count: Ints, u: float, least: float) -> Floats:
    """Weights of cells with `count` tests each, of mean 1 over all tests and none below `least`."""
    low, high = outlook.ratios
    total = float(count.sum())
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        mean = float(count @ np.maximum(least, outlook.levels(middle) / u)) / total
        low, high = (middle, high) if mean > 1.0 else (low, middle)
    weight = np.maximum(least, np.minimum(outlook.levels(high), 1.0) / u)
    # What bisection left over goes to all tests above the least alike.
    spare = weight - least
    given = float(count @ spare)
    if given <= 0.0:
        return np.ones(len(weight))
    return np.asarray(least + spare * ((1.0 - least) * total / given))
