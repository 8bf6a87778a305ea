"""The datamodels of an analysis: LASSO fits of the rows before each tested block, or weights or scores as given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from datamodels_inf.analysis.division import Division
from datamodels_inf.analysis.inputs import Data
from datamodels_inf.calibration import calibrate
from datamodels_inf.datamodel import CodingReport, Datamodel, detect_coding
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.masks import FloatArray

CODING_ROWS = 10_000
CODING_TARGETS = 200
"""What weights multiply is asked of so many rows and targets."""
SCALE_HINT = "if these are scores on a scale of their own, say calibrate=True."

Advance = Callable[[float], object]


@dataclass(frozen=True, eq=False)
class Fitted:
    """datamodels: one a block of tested rows, in mask coding; column k belongs to target targets[k].

    gap: duality gaps of the last, NaN where nothing was fitted. n_at_end: targets whose best λ is the smallest that was
    tried; None where nothing was fitted. coding: what decided what given weights multiply. n_constant: columns of
    scores that predict the same for every mask.
    """

    datamodels: tuple[Datamodel, ...]
    targets: Ints
    gap: Floats
    n_at_end: int | None = None
    coding: CodingReport | None = None
    n_constant: int = 0

    @property
    def datamodel(self) -> Datamodel:
        """That of the most rows."""
        return self.datamodels[-1]

    def places(self, targets: Ints) -> Ints:
        """Where `targets`, which must be among the fitted ones, stand among them."""
        order = np.argsort(self.targets, kind="stable")
        return np.asarray(order[np.searchsorted(self.targets[order], targets)])


def fit_here(data: Data, targets: Ints, division: Division, options: Mapping[str, Any], advance: Advance) -> Fitted:
    """LASSO on the fit rows, and where every model tests, on all rows before each block."""
    from datamodels_inf.lasso.prefixes import lasso_prefixes  # Brings Numba.
    from datamodels_inf.lasso.solver import as_datamodel

    stop, models = division.ends[-1], []
    outcomes = data.outcomes_of((0, stop), targets)
    prefixes = lasso_prefixes(data.masks.rows(0, stop), outcomes, division.ends, progress=advance, **options)
    for fits, choices in prefixes:
        models.append(as_datamodel(fits, data.masks.n_train))
        gap, at_end = np.array([fit.gap for fit in fits]), sum(choice.at_end for choice in choices)
    return Fitted(tuple(models), targets, gap, at_end)


def use_weights(weight: FloatArray, bias: Floats, targets: Ints, data: Data, fit_rows: int) -> Fitted:
    """Weights that predict outcomes; what they multiply, 0/1 or ±1, is detected on the fit rows."""
    rows, some = min(fit_rows, CODING_ROWS), slice(CODING_TARGETS)
    with np.errstate(over="ignore"):  # Infinity is refused below.
        own, unknown = weight[:, targets].astype(np.float32), np.full(len(targets), np.nan)
    outcomes = data.outcomes_of((0, rows), targets[some])
    try:
        report = detect_coding(own[:, some], bias[targets][some], data.masks[:rows], outcomes)
    except ValueError as error:
        raise ValueError(f"`theta` does not fit these outcomes: {str(error).rstrip('.')}; {SCALE_HINT}") from error
    model = Datamodel(own, bias[targets], unknown, report.coding).in_mask_coding()
    return Fitted((model,), targets, unknown, coding=report)


def use_scores(scores: FloatArray, bias: Floats, targets: Ints, data: Data, fit_rows: int) -> Fitted:
    """Scores on any scale: each target's scale and bias by least squares on the fit rows."""
    own, unknown = scores[:, targets], np.full(len(targets), np.nan)
    found = calibrate(own, bias[targets], data.masks[:fit_rows], data.outcomes_of((0, fit_rows), targets))
    model = Datamodel((own * found.scale).astype(np.float32), found.bias, unknown)
    return Fitted((model,), targets, unknown, n_constant=int(found.constant.sum()))
