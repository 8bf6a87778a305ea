"""LASSO datamodels: one sparse linear fit from masks to margins per target, at 300,000 masks × 50,000 images.

For each target, with Z the masks' columns standardised to mean 0 and variance 1, and b unpenalised:

    minimise  P(w) = (1/2n)·‖y − b − Zw‖² + λ‖w‖₁.

λ runs down a geometric path from λ_max, the smallest λ with w = 0. The λ with the least mean squared error on a
validation block, the last rows of the fit, is used to fit all fit rows once more. Weights are reported in mask coding:
they multiply the 0/1 masks themselves.

P depends on the data only through Zᵀy, ZᵀZ and ‖y‖². The rows of ZᵀZ that a solution needs are counted on bits
(`Gram`), once for all targets; the rest is small (`Descent`). A fit ends when its duality gap, over all columns, is at
most `tolerance`·P(0). Neither the number of threads nor the memory changes a result.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.kernels.coordinate_descent import add_columns
from datamodels_inf.kernels.margin_sums import TARGETS
from datamodels_inf.lasso.columns import ColumnBits, Rounded
from datamodels_inf.lasso.descent import Descent, Moments, Scratch, Solution, run_all
from datamodels_inf.lasso.gram import Gram, TooManyRowsError
from datamodels_inf.lasso.memory import plan_memory
from datamodels_inf.masks import PackedMasks

Masks: TypeAlias = PackedMasks | NDArray[np.bool_]
Margins: TypeAlias = NDArray[np.floating[Any]]
Progress: TypeAlias = Callable[[float], object]

BATCH = 32
"""Targets that go down their paths together; rows of the Gram matrix stay for the next batch."""
CHECKED_AT_ONCE = 4096
"""Rows of margins."""


def fit_lasso(
    masks: Masks,
    margins: Margins,
    *,
    n_lambdas: int = 100,
    lambda_ratio: float = 0.001,
    validation_rows: int | None = None,
    patience: int = 3,
    tolerance: float = 1e-6,
    memory_gb: float = 7.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Datamodel:
    """Fit a datamodel for every column of `margins`, (n_models, n_targets).

    Parameters
    ----------
    n_lambdas, lambda_ratio : length of the path, and its end as a share of λ_max.
    validation_rows : the last rows, which choose λ; by default a fifth of all rows, and at most 20,000.
    patience : a path ends when the validation error has not improved for so many λ.
    tolerance : the largest duality gap, as a share of P(0).
    memory_gb : memory to use, in 10⁹ bytes, besides that of masks, margins and weights.
    threads : all cores by default.
    progress : called with steps that add up to the number of targets, from one thread at a time.
    """
    packed = masks if isinstance(masks, PackedMasks) else PackedMasks.from_bool(masks)
    lasso = Lasso(
        packed,
        validation_rows=count_validation_rows(packed.n_models, validation_rows),
        n_lambdas=n_lambdas,
        lambda_ratio=lambda_ratio,
        patience=patience,
        tolerance=tolerance,
        memory_gb=memory_gb,
        threads=threads,
    )
    half = None if progress is None else lambda step: progress(0.5 * step)
    choices = lasso.choose(margins, half)
    return as_datamodel(lasso.refit(margins, [choice.best for choice in choices], half), packed.n_train)


def lasso_path(
    masks: Masks,
    margins: Margins,
    *,
    lambdas: Floats | None = None,
    n_lambdas: int = 100,
    lambda_ratio: float = 0.001,
    validation_rows: int = 0,
    tolerance: float = 1e-6,
    memory_gb: float = 7.0,
    threads: int | None = None,
) -> LassoPath:
    """All solutions along a path, without a refit: of `lambdas`, (L,) or (L, n_targets), or from each λ_max down.

    The last `validation_rows` rows are not fitted; the error on them is noted. Other parameters as in `fit_lasso`.
    """
    lasso = Lasso(
        masks,
        validation_rows=validation_rows,
        n_lambdas=n_lambdas,
        lambda_ratio=lambda_ratio,
        tolerance=tolerance,
        memory_gb=memory_gb,
        threads=threads,
    )
    return lasso.path(margins, lambdas)


def count_validation_rows(n: int, wanted: int | None) -> int:
    """How many of n rows choose λ: by default a fifth, and at most the 20,000 that are enough at any size."""
    if n < 3:
        raise ValueError(f"`masks` must have at least 3 rows to choose λ and to fit, but it has {n}.")
    if wanted is not None and not 1 <= wanted <= n - 2:
        raise ValueError(f"`validation_rows` must lie between 1 and {n - 2}, but it is {wanted}.")
    return min(20_000, max(1, n // 5)) if wanted is None else wanted


class GapWarning(UserWarning):
    """Some fits ended before their duality gap was small enough."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A target's datamodel at one λ, in mask coding: `weights` belong to the images `features`."""

    features: Ints
    weights: Floats
    bias: float
    lam: float
    gap: float


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


class Lasso:
    """Masks made ready for the fit of any number of targets. For the parameters see `fit_lasso`."""

    def __init__(
        self,
        masks: Masks,
        *,
        validation_rows: int,
        n_lambdas: int = 100,
        lambda_ratio: float = 0.001,
        patience: int = 3,
        tolerance: float = 1e-6,
        memory_gb: float = 7.0,
        threads: int | None = None,
    ) -> None:
        packed = masks if isinstance(masks, PackedMasks) else PackedMasks.from_bool(masks)
        _check(packed.n_models, validation_rows, n_lambdas, lambda_ratio, patience, tolerance, threads)
        self.n, self._split = packed.n_models, packed.n_models - validation_rows
        self._ratios = np.geomspace(1.0, lambda_ratio, n_lambdas)
        self._patience, self.tolerance = patience, tolerance
        self._threads = threads or os.cpu_count() or 1
        self._plan = plan_memory(self.n, packed.n_train, self._split, BATCH, self._threads, memory_gb)
        self._columns = ColumnBits(packed, self._split, self._threads)
        self.gram = Gram(self._columns, self._plan.rows)
        self.scratch = Scratch(self._threads, self._plan.square_bytes)
        self.lock = Lock()
        """Of what the threads of a fit do one after the other."""

    def choose(self, margins: Margins, progress: Progress | None = None) -> list[Choice]:
        """For each column of `margins` the λ with the least error on the validation rows, fitted on the others."""
        self._check_margins(margins)
        self._check_training()
        if self._split == self.n:
            raise ValueError("`validation_rows` must be at least 1 to choose λ, but it is 0.")
        choices: list[Choice] = []
        for start in range(0, margins.shape[1], BATCH):
            choices += self._choose(margins[:, start : start + BATCH], progress)
        self._warn([float(choice.gap.max()) for choice in choices])
        return choices

    def refit(self, margins: Margins, starts: Sequence[Solution], progress: Progress | None = None) -> list[Fit]:
        """Fit each column of `margins` on all rows, at the λ of `starts` and beginning there."""
        self._check_margins(margins)
        if len(starts) != margins.shape[1]:
            raise ValueError(
                f"`starts` must hold {margins.shape[1]} solutions, one a target, but it holds {len(starts)}."
            )
        self.gram.take_all_rows()
        fits: list[Fit] = []
        for start in range(0, margins.shape[1], BATCH):
            some = slice(start, start + BATCH)
            fits += self._refit(margins[:, some], starts[some], progress)
        self._warn([fit.gap for fit in fits])
        return fits

    def path(self, margins: Margins, lambdas: Floats | None = None) -> LassoPath:
        """All solutions along the path, or along the given λ, on all but the validation rows."""
        self._check_margins(margins)
        self._check_training()
        given = None if lambdas is None else _check_lambdas(lambdas, margins.shape[1])
        fits: list[list[Fit]] = []
        mse: list[list[float]] = []
        for start in range(0, margins.shape[1], BATCH):
            some = slice(start, start + BATCH)
            walks = self._paths(margins[:, some], None if given is None else given[:, some])
            fits += [[self._fit(solution, walk.moments) for solution in walk.solutions] for walk in walks]
            mse += [walk.mse for walk in walks]
            del walks  # They hold their margins, and the next ones need as much memory.
        self._warn([fit.gap for path in fits for fit in path])
        return LassoPath(fits, np.array(mse).T, self._columns.n_columns)

    def moments(self, targets: Sequence[Floats]) -> list[Moments]:
        """c, y2 and ȳ of each target over the rows that the Gram matrix counts."""
        columns, gram = self._columns, self.gram
        rows = [(slice(0, self._split), columns.training)]
        rows += [(slice(self._split, self.n), columns.validation)] if gram.all_rows and columns.validation.n else []
        results = []
        for start in range(0, len(targets), TARGETS):
            some = targets[start : start + TARGETS]
            parts = [([Rounded(y[part_rows]) for y in some], part) for part_rows, part in rows]
            sums = np.sum([columns.weighted_sums(rounded, part) for rounded, part in parts], axis=0)
            for t in range(len(some)):
                values = np.concatenate([rounded[t].values for rounded, _ in parts])
                mean = float(values.mean())
                y2 = float(np.mean((values - mean) ** 2)) if np.ptp(values) > 0 else 0.0
                c = (sums[t] - gram.sums * mean) * gram.scale / np.sqrt(gram.n)
                results.append(Moments(c if y2 > 0 else np.zeros_like(c), y2, mean))
        return results

    def validation_mse(self, solution: Solution, moments: Moments, y: Floats) -> float:
        """Mean squared error of a solution on the validation rows of y; NaN where there are none, or all are fitted."""
        part = self._columns.validation
        if part.n == 0 or self.gram.all_rows:
            return np.nan
        fit = self._fit(solution, moments)
        predicted = np.zeros(64 * (part.words.stop - part.words.start))
        add_columns(self._columns.words, fit.features, part.words.start, fit.weights, predicted)
        return float(np.mean((y[self._split :] - fit.bias - predicted[: part.n]) ** 2))

    def _fit(self, solution: Solution, moments: Moments) -> Fit:
        gram, features = self.gram, solution.features
        weights = solution.w * gram.scale[features] * np.sqrt(gram.n)
        bias = moments.mean - float(gram.sums[features] @ weights) / gram.n
        return Fit(features, weights, bias, solution.lam, solution.gap)

    def _lambdas(self, moments: Moments) -> Floats:
        """From λ_max = max|c| down; all 0 for a constant target."""
        return self._ratios * float(np.abs(moments.c).max())

    def _check_margins(self, margins: Margins) -> None:
        if margins.ndim != 2 or len(margins) != self.n:
            raise ValueError(
                f"`margins` must have shape ({self.n}, n_targets), one row per mask, but it is {margins.shape}."
            )
        if margins.shape[1] == 0:
            raise ValueError("`margins` must have at least one column, a target.")
        blocks = (margins[start : start + CHECKED_AT_ONCE] for start in range(0, self.n, CHECKED_AT_ONCE))
        if not all(np.isfinite(block).all() for block in blocks):
            raise ValueError("`margins` must be finite, but it holds NaN or infinity.")

    def _check_training(self) -> None:
        if self.gram.all_rows:
            raise RuntimeError("λ is chosen before the first refit: make another Lasso.")

    def _warn(self, gaps: Sequence[float]) -> None:
        above = [gap for gap in gaps if gap > self.tolerance]
        if above:
            warnings.warn(
                f"{len(above)} of {len(gaps)} fits ended with a duality gap of up to {max(above):.2g}·P(0), more than "
                f"`tolerance` = {self.tolerance:g}: their columns depend on each other too much.",
                GapWarning,
                stacklevel=3,
            )

    def _choose(self, margins: Margins, progress: Progress | None) -> list[Choice]:
        walks = self._walks(margins, self._patience, progress)
        self._run([walk.descent(self._lambdas(walk.moments)) for walk in walks])
        return [walk.choice() for walk in walks]

    def _refit(self, margins: Margins, starts: Sequence[Solution], progress: Progress | None) -> list[Fit]:
        walks = self._walks(margins, 1, progress)
        self._run([walk.refit(start) for walk, start in zip(walks, starts, strict=True)])
        return [self._fit(walk.solutions[-1], walk.moments) for walk in walks]

    def _paths(self, margins: Margins, lambdas: Floats | None) -> list[_Walk]:
        walks = self._walks(margins, None)
        steps = [self._lambdas(walk.moments) for walk in walks] if lambdas is None else lambdas.T
        self._run([walk.descent(own) for walk, own in zip(walks, steps, strict=True)])
        return walks

    def _walks(self, margins: Margins, patience: int | None, progress: Progress | None = None) -> list[_Walk]:
        targets = list(margins.T.astype(np.float64, order="C"))
        moments = self.moments(targets)
        return [_Walk(self, y, own, patience, progress) for y, own in zip(targets, moments, strict=True)]

    def _run(self, descents: Sequence[Descent]) -> None:
        try:
            run_all(descents, self.gram, self.scratch, self._threads)
        except TooManyRowsError as error:
            raise ValueError(
                f"a path has come near {error.needed} images, and the rows of {error.capacity} fit in memory: end it "
                f"at a larger `lambda_ratio`, or set `memory_gb` to {self._plan.gb_for_all}, enough for all rows."
            ) from error


class _Walk:
    """What one target meets on its path, and when it stops: when the validation error has ceased to improve."""

    def __init__(
        self, lasso: Lasso, y: Floats, moments: Moments, patience: int | None, progress: Progress | None
    ) -> None:
        self._lasso, self._y, self._patience, self._progress = lasso, y, patience, progress
        self.moments = moments
        self.solutions: list[Solution] = []
        """All of them without patience, or else the best so far."""
        self.mse: list[float] = []
        self._lambdas: Floats = np.zeros(0)
        self._n_nonzero: list[int] = []
        self._gap: list[float] = []
        self._best = 0

    def descent(self, lambdas: Floats, start: Solution | None = None) -> Descent:
        self._lambdas = lambdas
        lasso = self._lasso
        return Descent(lasso.gram, lasso.scratch, self.moments, lambdas, lasso.tolerance, self._arrived, start)

    def refit(self, start: Solution) -> Descent:
        """λ = 0 is that of a target which is constant in the training rows: then λ_max, with w = 0."""
        lam = start.lam if start.lam > 0.0 else float(np.abs(self.moments.c).max())
        return self.descent(np.array([lam]), start)

    def choice(self) -> Choice:
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
        if self._progress is not None:
            left = len(self._lambdas) - k
            with self._lasso.lock:
                self._progress((1 if goes_on else left) / len(self._lambdas))
        return goes_on


@dataclass(frozen=True, eq=False)
class LassoPath:
    """Solutions of all targets at all λ, in mask coding: `fits[t][k]` is target t at its k-th λ."""

    fits: list[list[Fit]]
    mse: Floats
    """(L, n_targets): mean squared error on the validation rows, NaN without them."""
    n_train: int

    @property
    def lambdas(self) -> Floats:
        """(L, n_targets), decreasing."""
        return np.array([[fit.lam for fit in path] for path in self.fits]).T

    @property
    def gap(self) -> Floats:
        """(L, n_targets): the duality gap as a share of P(0)."""
        return np.array([[fit.gap for fit in path] for path in self.fits]).T

    @property
    def n_nonzero(self) -> Ints:
        """(L, n_targets): the number of images with a weight."""
        return np.array([[fit.features.size for fit in path] for path in self.fits], np.int64).T

    def weights(self, target: int) -> Floats:
        """(n_train, L): the weights of one target along its path."""
        dense = np.zeros((self.n_train, len(self.fits[target])))
        for k, fit in enumerate(self.fits[target]):
            dense[fit.features, k] = fit.weights
        return dense

    def datamodel(self, steps: Ints) -> Datamodel:
        """Of each target the solution at its λ number `steps[t]`."""
        return as_datamodel([path[int(k)] for path, k in zip(self.fits, steps, strict=True)], self.n_train)


def as_datamodel(fits: Sequence[Fit], n_train: int) -> Datamodel:
    """The dense weights of `fits`, in float32: at true size, 0.2 MB a target."""
    weight = np.zeros((n_train, len(fits)), np.float32)
    for t, fit in enumerate(fits):
        weight[fit.features, t] = fit.weights
    return Datamodel(weight, np.array([fit.bias for fit in fits]), np.array([fit.lam for fit in fits]))


def _check_lambdas(lambdas: Floats, n_targets: int) -> Floats:
    lambdas = np.asarray(lambdas, np.float64)
    if lambdas.ndim == 1:
        lambdas = np.repeat(lambdas[:, None], n_targets, axis=1)
    if lambdas.ndim != 2 or 0 in lambdas.shape or lambdas.shape[1] != n_targets:
        raise ValueError(f"`lambdas` must have shape (L,) or (L, {n_targets}), but it is {lambdas.shape}.")
    if not (np.isfinite(lambdas).all() and (lambdas > 0).all() and (np.diff(lambdas, axis=0) <= 0).all()):
        raise ValueError("`lambdas` must be finite, larger than 0 and decreasing.")
    return lambdas


def _check(
    n: int, validation: int, n_lambdas: int, ratio: float, patience: int, tolerance: float, threads: int | None
) -> None:
    if n_lambdas < 1:
        raise ValueError(f"`n_lambdas` must be at least 1, but it is {n_lambdas}.")
    if not 0.0 < ratio <= 1.0:
        raise ValueError(f"`lambda_ratio` must lie in (0, 1], but it is {ratio}.")
    if not 0 <= validation <= n - 2:
        raise ValueError(f"`validation_rows` must lie between 0 and {n - 2}, but it is {validation}.")
    if patience < 1:
        raise ValueError(f"`patience` must be at least 1, but it is {patience}.")
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"`tolerance` must lie in (0, 1), but it is {tolerance}.")
    if threads is not None and threads < 1:
        raise ValueError(f"`threads` must be at least 1, but it is {threads}.")
