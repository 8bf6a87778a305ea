"""What the report looks up in the held-out models and the datamodels: the samples that a test compared, as curves, and
the images with the largest weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.masks import PackedMasks
from datamodels_inf.power import dominance_area
from pipeline.report.content import Curve, Gallery, Weighted
from pipeline.report.rows import Key, Row

Floats = NDArray[np.float64]
KINDS = {"swap": "scores", "swap-exact": "scores", "paired": "differences", "contrast": "residuals"}
POINTS = 48  # of a curve, which is drawn the size of a stamp
STRIP = 6  # images on either side of a gallery


@dataclass(frozen=True)
class HeldOut:
    """Held-out masks, the margins of some targets on them, and the datamodels: column k is of target targets[k].

    `margins` is asked for the numbers of the targets that are needed. `halves`: the rows that a swap test leaves
    untouched, and those that it swaps.
    """

    masks: PackedMasks
    margins: Callable[[NDArray[np.int64]], NDArray[np.float16]]
    datamodel: Datamodel
    targets: NDArray[np.int64]
    halves: tuple[NDArray[np.int64], NDArray[np.int64]]

    def position(self, target: int) -> int:
        return int(np.flatnonzero(self.targets == target)[0])


def curves_of(rows: Sequence[Row], held_out: HeldOut) -> dict[Key, Curve]:
    """The curve of each test whose method is known here."""
    known = [row for row in rows if row.method in KINDS]
    if not known:
        return {}
    targets = np.unique([row.target for row in known])
    fitted = held_out.datamodel.subset([held_out.position(t) for t in targets.tolist()])
    errors = held_out.margins(targets).astype(np.float64) - _predict(fitted, held_out.masks)
    used = np.unique([index for row in known for index in (*row.left, *row.right)])
    columns = held_out.masks.columns(used)
    curves = {}
    for row in known:
        k = int(np.searchsorted(targets, row.target))
        sides = [np.searchsorted(used, side) for side in (row.left, row.right)]
        weights = [fitted.weight[list(side), k].astype(np.float64) for side in (row.left, row.right)]
        both = [columns[:, side] for side in sides]
        samples = _samples(KINDS[row.method], errors[:, k], both, weights, held_out.halves)
        if min(map(len, samples)) > 0:
            curves[row.key] = curve_of(KINDS[row.method], *samples)
    return curves


def _predict(fitted: Datamodel, masks: PackedMasks) -> Floats:
    """As `Datamodel.predict`, for all targets in one pass and in single precision: no line is drawn finer than that."""
    return (masks @ fitted.weight.astype(np.float32)).astype(np.float64) + fitted.bias


def _samples(
    kind: str,
    error: Floats,
    sides: Sequence[NDArray[np.bool_]],
    weights: Sequence[Floats],
    halves: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[Floats, Floats]:
    """The two samples of a test; `error` is y − b − xᵀθ̂.

    "scores": T of one half, untouched, and of the other half, swapped, T = (y − b − xᵀθ̂)² (METHOD 2).
    "differences": D = T(x, y) − T(swap(x), y) of the models that the swap changes, and −D (METHOD 7).
    "residuals": r = y − b − Σ_{l≠i,j} x_l θ̂_l of the models with i and without j, and of the reverse (METHOD 8).
    """
    left, right = sides
    if kind == "residuals":
        rest = error + left @ weights[0] + right @ weights[1]
        with_i, with_j = left.all(axis=1) & ~right.any(axis=1), right.all(axis=1) & ~left.any(axis=1)
        return rest[with_i], rest[with_j]
    shift = (right.astype(np.float64) - left) @ (weights[0] - weights[1])  # of xᵀθ̂, by the swap
    untouched, swapped = error**2, (error - shift) ** 2
    if kind == "scores":
        return untouched[halves[0]], swapped[halves[1]]
    changed = shift != 0.0
    difference = (untouched - swapped)[changed]
    return difference, -difference


def curve_of(kind: str, first: Floats, second: Floats) -> Curve:
    """(F(t), G(t)) for t through the quantiles of both samples together; with few values, through all of them."""
    both = np.concatenate([first, second])
    thresholds = np.unique(both)
    if len(thresholds) > POINTS:
        thresholds = np.unique(np.quantile(both, np.linspace(0, 1, POINTS + 1), method="nearest"))
    x, y = (np.searchsorted(np.sort(sample), thresholds, "right") / len(sample) for sample in (first, second))
    return Curve(kind, (0.0, *x.tolist()), (0.0, *y.tolist()), dominance_area(first, second))


def galleries_of(targets: Sequence[int], held_out: HeldOut, labels: Callable[[int], str]) -> Mapping[int, Gallery]:
    """For each target, the images with the largest positive and negative weights."""
    galleries = {}
    for target in targets:
        theta = held_out.datamodel.weight[:, held_out.position(target)].astype(np.float64)
        order = np.argsort(theta, kind="stable")
        helpers, hurters = order[::-1][:STRIP], order[:STRIP]
        galleries[target] = Gallery(
            tuple(Weighted(k, labels(k), float(theta[k])) for k in helpers.tolist() if theta[k] > 0.0),
            tuple(Weighted(k, labels(k), float(theta[k])) for k in hurters.tolist() if theta[k] < 0.0),
        )
    return galleries
