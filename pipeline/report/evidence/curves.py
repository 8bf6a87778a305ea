"""What the report looks up in the held-out models: the two samples that a test compared, as a curve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.comparison import Order
from datamodels_inf.masks import PackedMasks
from datamodels_inf.methods import METHODS, CurveKind, PairTests
from datamodels_inf.power import dominance_area
from datamodels_inf.targets import Target
from pipeline.report.content import Curve
from pipeline.report.rows import Key, Row
from pipeline.report.work import Progress, silent

Floats = NDArray[np.float64]
POINTS = 48  # of a curve, which is drawn the size of a stamp


@dataclass(frozen=True)
class HeldOut:
    """Held-out masks, the datamodel to show, whose column k is of target targets[k], and targets ready to be tested.

    `prepared` is asked for the numbers of the targets that are needed, and gives the blocks of rows of each, with the
    datamodels that may test them. order, seed: of the swap tests.
    """

    masks: PackedMasks
    prepared: Callable[[NDArray[np.int64]], Iterable[Sequence[Target]]]
    datamodel: Datamodel
    targets: NDArray[np.int64]
    order: Order
    seed: int

    def position(self, target: int) -> int:
        """Of a target among `targets`."""
        return int(np.flatnonzero(self.targets == target)[0])


def curves_of(rows: Sequence[Row], held_out: HeldOut, progress: Progress = silent) -> dict[Key, Curve]:
    """The curve of each test whose method is known; none where one of its two samples is empty."""
    rows = [row for row in rows if row.method in METHODS]
    if not rows:
        return {}
    targets = np.unique([row.target for row in rows])
    curves = {}
    for number, blocks in zip(targets.tolist(), held_out.prepared(targets), strict=True):
        for row in (row for row in rows if row.target == number):
            pair = np.array([[row.left, row.right]], np.int64)
            kind = METHODS[row.method].curve
            samples = kind.samples(PairTests(blocks, pair, order=held_out.order, seed=held_out.seed))
            if min(map(len, samples)) > 0:
                curves[row.key] = curve_of(kind, *samples)
            progress("curves", 1)
    return curves


def curve_of(kind: CurveKind, first: Floats, second: Floats) -> Curve:
    """(F(t), G(t)) for t through the quantiles of both samples together; with few values, through all of them."""
    both = np.concatenate([first, second])
    thresholds = np.unique(both)
    if len(thresholds) > POINTS:
        thresholds = np.unique(np.quantile(both, np.linspace(0, 1, POINTS + 1), method="nearest"))
    x, y = (np.searchsorted(np.sort(sample), thresholds, "right") / len(sample) for sample in (first, second))
    return Curve(kind, (0.0, *x.tolist()), (0.0, *y.tolist()), dominance_area(first, second))
