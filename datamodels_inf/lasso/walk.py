"""What a target meets on its way down a path of λ: errors on the validation rows, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.lasso.descent import Descent, Moments, Solution
from datamodels_inf.lasso.meter import PATH, REFIT, STEPS, Meter

if TYPE_CHECKING:
    from datamodels_inf.lasso.solver import Lasso


@dataclass(frozen=True, eq=False)
class Choice:
    """How λ was chosen: what each step of the path gave, as far as it went, and the solution of the best."""

    lambdas: Floats
    mse: Floats
    """On the validation rows; NaN without them."""
    n_nonzero: Ints
    gap: Floats
    best: Solution
    at_end: bool
    """Whether the best is the last λ of the whole path: a longer path might have been better."""


class Walk:
    """What one target meets on its path, and when it stops: when the validation error has ceased to improve."""

    def __init__(self, lasso: Lasso, y: Floats, moments: Moments, patience: int | None, meter: Meter | None) -> None:
        self._lasso, self._y, self._patience, self._meter = lasso, y, patience, meter
        self._work_left = 0.0
        self.moments = moments
        self.solutions: list[Solution] = []
        """All of them without patience, or else the best so far."""
        self.mse: list[float] = []
        self._lambdas: Floats = np.zeros(0)
        self._n_nonzero: list[int] = []
        self._gap: list[float] = []
        self._best = 0

    def descent(self, lambdas: Floats, start: Solution | None = None) -> Descent:
        """Down `lambdas`, from a solution nearby if there is one."""
        self._lambdas, self._work_left = lambdas, PATH
        lasso = self._lasso
        return Descent(lasso.gram, lasso.scratch, self.moments, lambdas, lasso.tolerance, self._arrived, start)

    def refit(self, start: Solution) -> Descent:
        """λ = 0 is that of a target which is constant in the training rows: then λ_max, with w = 0."""
        lam = start.lam if start.lam > 0.0 else float(np.abs(self.moments.c).max())
        descent = self.descent(np.array([lam]), start)
        self._work_left = REFIT
        return descent

    def anew(self) -> Walk:
        """The same target before its first step; its progress has been told."""
        return Walk(self._lasso, self._y, self.moments, self._patience, None)

    @property
    def best_is_first(self) -> bool:
        """Whether no λ after the first was better."""
        return self._best == 0

    def choice(self) -> Choice:
        """How λ was chosen, as far as the path went."""
        return Choice(
            lambdas=self._lambdas[: len(self.mse)],
            mse=np.array(self.mse),
            n_nonzero=np.array(self._n_nonzero),
            gap=np.array(self._gap),
            best=self.solutions[-1],
            at_end=self._best == len(self._lambdas) - 1,
        )

    def _arrived(self, solution: Solution) -> bool:
        k = len(self.mse)
        self.mse.append(self._lasso.validation_mse(solution, self.moments, self._y))
        self._n_nonzero.append(solution.features.size)
        self._gap.append(solution.gap)
        if k == 0 or self.mse[k] < self.mse[self._best]:
            self._best = k
        if self._patience is None:
            self.solutions.append(solution)
        elif self._best == k:
            self.solutions = [solution]
        goes_on = self._patience is None or (k - self._best < self._patience and self.moments.y2 > 0)
        if self._meter is not None:
            self._tell(self._meter, not goes_on or k + 1 == len(self._lambdas), solution.features.size)
        return goes_on

    def _tell(self, meter: Meter, ends: bool, weights: int) -> None:
        """A step of the path is done; with the last, what was left for more of them need not be."""
        step = min(self._work_left, PATH / max(1.0, STEPS * len(self._lambdas)))
        self._work_left -= step
        meter.walked(step)
        if ends:
            meter.spared(self._work_left)
        if ends and len(self._lambdas) > 1:
            meter.ended(weights)
