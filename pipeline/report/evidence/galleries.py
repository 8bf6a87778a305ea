"""What the report looks up in the datamodels: the images with the largest weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pipeline.report.content import Gallery, Weighted
from pipeline.report.evidence.curves import HeldOut

STRIP = 6  # images on either side of a gallery


def galleries_of(
    targets: Sequence[int], held_out: HeldOut, labels: Callable[[int], str], *, higher_is_better: bool = True
) -> Mapping[int, Gallery]:
    """For each target, the images with the largest positive and negative weights: helpers and hurters, or where a lower
    outcome is better, hurters and helpers."""
    galleries = {}
    for target in targets:
        theta = held_out.datamodel.weight[:, held_out.position(target)].astype(np.float64)
        help_ = theta if higher_is_better else -theta
        order = np.argsort(help_, kind="stable")
        helpers, hurters = order[::-1][:STRIP], order[:STRIP]
        galleries[target] = Gallery(
            tuple(Weighted(k, labels(k), float(theta[k])) for k in helpers.tolist() if help_[k] > 0.0),
            tuple(Weighted(k, labels(k), float(theta[k])) for k in hurters.tolist() if help_[k] < 0.0),
        )
    return galleries
