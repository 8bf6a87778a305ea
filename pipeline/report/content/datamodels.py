"""What is known of the datamodels: what their weights multiply, and how well they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Coding:
    """What the weights multiply: "mask" (0 or 1) or "signed" (±1), and the mean squared errors that decided it.

    The three errors are NaN where nothing had to be decided, because the weights were fitted here.
    """

    name: str
    mse_mask: float
    mse_signed: float
    mse_constant: float
    n_models: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class DatamodelQuality:
    """How well each of the K datamodels predicts held-out margins. Figures may be NaN where they are not defined.

    targets, classes: the numbers of the targets and the names of their classes (empty if not known).
    r2, spearman, mse, n_nonzero, lam, gap: one entry a target; gap is the relative duality gap of the fit.
    shown: positions among the K targets of the few that are drawn.
    shown_true, shown_predicted: (targets drawn, models), margins and predictions of some of the held-out models.
    loaded: the weights come from a file, so it is not known here which models they were fitted on.
    n_at_end: targets whose best λ is the smallest that was tried; None where nothing was fitted.
    """

    targets: NDArray[np.int64]
    classes: Sequence[str]
    r2: NDArray[np.float64]
    spearman: NDArray[np.float64]
    mse: NDArray[np.float64]
    n_nonzero: NDArray[np.int64]
    lam: NDArray[np.float64]
    gap: NDArray[np.float64]
    shown: NDArray[np.int64]
    shown_true: NDArray[np.float64]
    shown_predicted: NDArray[np.float64]
    loaded: bool = False
    n_at_end: int | None = None

    def __post_init__(self) -> None:
        count = len(self.targets)
        for name in ("classes", "r2", "spearman", "mse", "n_nonzero", "lam", "gap"):
            if len(getattr(self, name)) != count:
                raise ValueError(f"`{name}` must have one entry for each of the {count} targets.")
        shape = self.shown_true.shape
        if len(shape) != 2 or shape != self.shown_predicted.shape or shape[0] != len(self.shown):
            raise ValueError("`shown_true` and `shown_predicted` must have one row for each target in `shown`.")
        if not (np.isfinite(self.shown_true).all() and np.isfinite(self.shown_predicted).all()):
            raise ValueError("`shown_true` and `shown_predicted` must be finite.")
        if not all(0 <= position < count for position in self.shown.tolist()):
            raise ValueError(f"`shown` must hold positions among the {count} targets, from 0.")
