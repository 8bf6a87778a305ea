"""What the report looks up in the held-out models: the two samples that a test compared, as a curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.comparison import Order
from datamodels_inf.masks import PackedMasks
from datamodels_inf.methods import METHODS, CurveKind, PairTests
from datamodels_inf.power import dominance_area
from datamodels_inf.targets import prepare_targets
from pipeline.report.content import Curve
from pipeline.report.rows import Key, Row

Floats = NDArray[np.float64]
POINTS = 48  # of a curve, which is drawn the size of a stamp


@dataclass(frozen=True)
class HeldOut:
    """Held-out masks, the margins of some targets on them, and the datamodels: column k is of target targets[k].

    `margins` is asked for the numbers of the targets that are needed. order, seed: of the swap tests.
    """

    masks: PackedMasks
    margins: Callable[[NDArray[np.int64]], NDArray[np.float16]]
    datamodel: Datamodel
    targets: NDArray[np.int64]
    order: Order
    seed: int

    def position(self, target: int) -> int:
        """Of a target among `targets`."""
        return int(np.flatnonzero(self.targets == target)[0])


def curves_of(rows: Sequence[Row], held_out: HeldOut) -> dict[Key, Curve]:
    """The curve of each test whose method is known; none where one of its two samples is empty."""
    rows = [row for row in rows if row.method in METHODS]
    if not rows:
        return {}
    targets = np.unique([row.target for row in rows])
    fitted = held_out.datamodel.subset([held_out.position(t) for t in targets.tolist()])
    curves = {}
    prepared = prepare_targets(held_out.masks, held_out.margins(targets), fitted)
    for number, target in zip(targets.tolist(), prepared, strict=True):
        for row in (row for row in rows if row.target == number):
            pair = np.array([[row.left, row.right]], np.int64)
            kind = METHODS[row.method].curve
            samples = kind.samples(PairTests(target, pair, order=held_out.order, seed=held_out.seed))
            if min(map(len, samples)) > 0:
                curves[row.key] = curve_of(kind, *samples)
    return curves


def curve_of(kind: CurveKind, first: Floats, second: Floats) -> Curve:
    """(F(t), G(t)) for t through the quantiles of both samples together; with few values, through all of them."""
    both = np.concatenate([first, second])
    thresholds = np.unique(both)
    if len(thresholds) > POINTS:
        thresholds = np.unique(np.quantile(both, np.linspace(0, 1, POINTS + 1), method="nearest"))
    x, y = (np.searchsorted(np.sort(sample), thresholds, "right") / len(sample) for sample in (first, second))
    return Curve(kind, (0.0, *x.tolist()), (0.0, *y.tolist()), dominance_area(first, second))
