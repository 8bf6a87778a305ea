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

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.cores import available_cores
from datamodels_inf.kernels.coordinate_descent import add_columns
from datamodels_inf.kernels.margin_sums import TARGETS
from datamodels_inf.lasso.columns import ColumnBits, Rounded
from datamodels_inf.lasso.descent import Descent, Moments, Scratch, Solution, run_all
from datamodels_inf.lasso.gram import Gram, TooManyRowsError
from datamodels_inf.lasso.kept_sums import KeptSums, part_sums
from datamodels_inf.lasso.memory import plan_memory
from datamodels_inf.lasso.meter import MOMENTS, PATH, REFIT, Meter, Progress, metered
from datamodels_inf.lasso.walk import Choice, Walk
from datamodels_inf.masks import PackedMasks

Masks: TypeAlias = PackedMasks | NDArray[np.bool_]
Margins: TypeAlias = NDArray[np.floating[Any]]

BATCH = 32
"""Targets that go down their paths together; rows of the Gram matrix stay for the next batch."""
CHECKED_AT_ONCE = 4096
"""Rows of margins that are in memory while they are checked."""
ABOVE = 6
"""λ of the path above that of the prefix before: there a longer prefix begins to look for its own."""


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

    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((400, 20)) < 0.5
    >>> margins = 2.0 * masks[:, [3]] + 0.3 * rng.standard_normal((400, 1))
    >>> lasso_path(masks, margins, n_lambdas=4, lambda_ratio=0.01).n_nonzero[:, 0]  # From λ_max down.
    array([ 0,  1,  1, 11])
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


class Lasso:
    """Masks made ready for the fit of any number of targets. For the parameters see `fit_lasso`.

    With `ends`, of each prefix of rows that ends before one of them; by default of all rows. The prefixes come in
    order, each first `choose` and then `refit`: the Gram matrix is that of the prefix before and of the new rows, so
    rows are counted once. A prefix chooses λ on its new rows, fitted on those before; the first on `validation_rows`.
    `kept`: a place for sums that are needed again; without one they are made again.
    """

    def __init__(
        self,
        masks: Masks,
        *,
        validation_rows: int,
        ends: Sequence[int] | None = None,
        n_lambdas: int = 100,
        lambda_ratio: float = 0.001,
        patience: int = 3,
        tolerance: float = 1e-6,
        memory_gb: float = 7.0,
        threads: int | None = None,
        meter: Meter | None = None,
        kept: KeptSums | None = None,
    ) -> None:
        packed = PackedMasks.of(masks)
        self.ends = (packed.n_models,) if ends is None else check_ends(ends, packed.n_models)
        _check(self.ends[0], validation_rows, n_lambdas, lambda_ratio, patience, tolerance, threads)
        parts = (self.ends[0] - validation_rows, *self.ends)
        self._kept = kept
        self._ratios = np.geomspace(1.0, lambda_ratio, n_lambdas)
        self._patience, self.tolerance = patience, tolerance
        self._threads = threads or available_cores()
        self._plan = plan_memory(parts, packed.n_train, BATCH, self._threads, memory_gb)
        self._columns = ColumnBits(packed, parts, self._threads, None if meter is None else meter.transposed)
        self.gram = Gram(self._columns, self._plan.rows)
        if meter is not None:
            meter.keeps(self.gram.capacity)
        self.scratch = Scratch(
            self._threads, self._plan.square_bytes, self._plan.waiting_bytes, packed.n_train, self._plan.bytes_with_rows
        )

    def choose(
        self,
        margins: Margins,
        progress: Progress | Meter | None = None,
        *,
        prefix: int = 0,
        before: Sequence[Fit] | None = None,
    ) -> list[Choice]:
        """For each column of `margins` the λ with the least error on the validation rows, fitted on those before.

        `margins` has the rows of the prefix; the validation rows of all but the first are those that it has beyond the
        one before, and `before` the fits of that one. `progress` is called with steps that add up to the number of
        targets, or is the meter of a fit that this is a part of.
        """
        self._check_margins(margins, prefix)
        self._check_order(prefix + 1)
        if self._columns.parts[prefix + 1].n == 0:
            raise ValueError("`validation_rows` must be at least 1 to choose λ, but it is 0.")
        if (0 if before is None else len(before)) != (margins.shape[1] if prefix else 0):
            raise ValueError("`before` must hold the fit of each target on the prefix before, if there is one.")
        self.gram.take(prefix + 1)
        choices: list[Choice] = []
        n_targets, d = margins.shape[1], self._columns.n_columns
        with metered(progress, n_targets, targets=n_targets, columns=d, paths=n_targets * (MOMENTS + PATH)) as meter:
            for start in range(0, n_targets, BATCH):
                some = slice(start, start + BATCH)
                choices += self._choose(margins[:, some], None if before is None else before[some], meter)
        self._warn([float(choice.gap.max()) for choice in choices])
        return choices

    def refit(
        self,
        margins: Margins,
        starts: Sequence[Solution],
        progress: Progress | Meter | None = None,
        *,
        prefix: int = 0,
    ) -> list[Fit]:
        """Fit each column of `margins` on all rows of the prefix, at the λ of `starts` and beginning there.

        After the first prefix at λ·√(n'/n), n' and n being the rows of the prefix before and of this one: the λ that is
        large enough for noise falls with √n, and here n is much more than the n' rows that λ was chosen for. Not where
        w = 0 was best.
        """
        self._check_margins(margins, prefix)
        self._check_order(prefix + 2)
        if len(starts) != margins.shape[1]:
            raise ValueError(
                f"`starts` must hold {margins.shape[1]} solutions, one a target, but it holds {len(starts)}."
            )
        self.gram.take(prefix + 2)
        fits: list[Fit] = []
        n_targets, d = margins.shape[1], self._columns.n_columns
        with metered(progress, n_targets, targets=0, columns=d, paths=n_targets * (MOMENTS + REFIT)) as meter:
            for start in range(0, n_targets, BATCH):
                some = slice(start, start + BATCH)
                fits += self._refit(margins[:, some], [self._at(start, prefix) for start in starts[some]], meter)
        self._warn([fit.gap for fit in fits])
        return fits

    def path(self, margins: Margins, lambdas: Floats | None = None) -> LassoPath:
        """All solutions along the path, or along the given λ, on the first prefix but for its validation rows."""
        self._check_margins(margins, 0)
        self._check_order(1)
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

    def moments(self, targets: Sequence[Floats], meter: Meter | None = None) -> list[Moments]:
        """c, y2 and ȳ of each target over the rows that the Gram matrix counts."""
        columns, gram = self._columns, self.gram
        parts = {number: part.rows for number, part in enumerate(columns.parts[: gram.level]) if part.n}
        results = []
        for start in range(0, len(targets), TARGETS):
            some = targets[start : start + TARGETS]
            rounded = {number: [Rounded(y[rows]) for y in some] for number, rows in parts.items()}
            told = None if meter is None else partial(_tell_moments, meter, len(some))
            last = gram.level == len(columns.parts)
            sums = np.sum(
                [part_sums(columns, own, number, self._kept, told, last=last) for number, own in rounded.items()],
                axis=0,
            )
            for t in range(len(some)):
                values = np.concatenate([own[t].values for own in rounded.values()])
                mean = float(values.mean())
                y2 = float(np.mean((values - mean) ** 2)) if np.ptp(values) > 0 else 0.0
                c = (sums[t] - gram.sums * mean) * gram.scale / np.sqrt(gram.n)
                results.append(Moments(c if y2 > 0 else np.zeros_like(c), y2, mean))
        return results

    def validation_mse(self, solution: Solution, moments: Moments, y: Floats) -> float:
        """Mean squared error of a solution on the rows of y that come after the fitted ones; NaN without them."""
        if len(y) == self.gram.n:
            return np.nan
        part = self._columns.parts[self.gram.level]
        fit = self._fit(solution, moments)
        predicted = np.zeros(64 * (part.words.stop - part.words.start))
        add_columns(self._columns.words, fit.features, part.words.start, fit.weights, predicted)
        return float(np.mean((y[part.rows] - fit.bias - predicted[: part.n]) ** 2))

    def _fit(self, solution: Solution, moments: Moments) -> Fit:
        gram, features = self.gram, solution.features
        weights = solution.w * gram.scale[features] * np.sqrt(gram.n)
        bias = moments.mean - float(gram.sums[features] @ weights) / gram.n
        return Fit(features, weights, bias, solution.lam, solution.gap)

    def _at(self, start: Solution, prefix: int) -> Solution:
        """At the λ of a refit."""
        if prefix == 0 or start.features.size == 0:
            return start
        return replace(start, lam=start.lam * math.sqrt(self.ends[prefix - 1] / self.ends[prefix]))

    def _solution(self, fit: Fit) -> Solution:
        """The inverse of `_fit`, on the same rows."""
        w = fit.weights / (self.gram.scale[fit.features] * np.sqrt(self.gram.n))
        return Solution(fit.lam, fit.features, w, fit.gap)

    def _lambdas(self, moments: Moments) -> Floats:
        """From λ_max = max|c| down; all 0 for a constant target."""
        return self._ratios * float(np.abs(moments.c).max())

    def _entry(self, lambdas: Floats, before: Fit) -> int:
        """Where on its path a target whose prefix before has a fit begins: `ABOVE` steps above the λ of that one."""
        if before.features.size == 0:
            return 0
        return max(0, int(np.count_nonzero(lambdas > before.lam)) - ABOVE)

    def _check_margins(self, margins: Margins, prefix: int) -> None:
        n = self.ends[prefix]
        if margins.ndim != 2 or len(margins) != n:
            raise ValueError(
                f"`margins` must have shape ({n}, n_targets), one row per mask, but it is {margins.shape}."
            )
        if margins.shape[1] == 0:
            raise ValueError("`margins` must have at least one column, a target.")
        blocks = (margins[start : start + CHECKED_AT_ONCE] for start in range(0, n, CHECKED_AT_ONCE))
        if not all(np.isfinite(block).all() for block in blocks):
            raise ValueError("`margins` must be finite, but it holds NaN or infinity.")

    def _check_order(self, level: int) -> None:
        if self.gram.level > level:
            raise RuntimeError("λ is chosen before the first refit, and prefixes come in order: make another Lasso.")

    def _warn(self, gaps: Sequence[float]) -> None:
        above = [gap for gap in gaps if gap > self.tolerance]
        if above:
            warnings.warn(
                f"{len(above)} of {len(gaps)} fits ended with a duality gap of up to {max(above):.2g}·P(0), more than "
                f"`tolerance` = {self.tolerance:g}: their columns depend on each other too much.",
                GapWarning,
                stacklevel=3,
            )

    def _choose(self, margins: Margins, before: Sequence[Fit] | None, meter: Meter | None) -> list[Choice]:
        """Down the whole path, or with a fit `before` down from near its λ.

        Where the best λ is the first of such a shorter path, a larger one may be better: then down the whole path.
        """
        walks = self._walks(margins, self._patience, meter)
        paths = [self._lambdas(walk.moments) for walk in walks]
        if before is None:
            self._run([walk.descent(path) for walk, path in zip(walks, paths, strict=True)], meter)
            return [walk.choice() for walk in walks]
        entries = [self._entry(path, fit) for path, fit in zip(paths, before, strict=True)]
        starts = [self._solution(fit) if entry else None for fit, entry in zip(before, entries, strict=True)]
        self._run(
            [
                walk.descent(path[entry:], start)
                for walk, path, entry, start in zip(walks, paths, entries, starts, strict=True)
            ],
            meter,
        )
        again = [t for t, walk in enumerate(walks) if entries[t] and walk.best_is_first]
        for t in again:
            walks[t] = walks[t].anew()
        self._run([walks[t].descent(paths[t]) for t in again], meter)
        return [walk.choice() for walk in walks]

    def _refit(self, margins: Margins, starts: Sequence[Solution], meter: Meter | None) -> list[Fit]:
        walks = self._walks(margins, 1, meter)
        if meter is not None:
            meter.awaits(self.gram.work_of([start.features for start in starts]))
        self._run([walk.refit(start) for walk, start in zip(walks, starts, strict=True)], meter)
        return [self._fit(walk.solutions[-1], walk.moments) for walk in walks]

    def _paths(self, margins: Margins, lambdas: Floats | None) -> list[Walk]:
        walks = self._walks(margins, None)
        steps = [self._lambdas(walk.moments) for walk in walks] if lambdas is None else lambdas.T
        self._run([walk.descent(own) for walk, own in zip(walks, steps, strict=True)])
        return walks

    def _walks(self, margins: Margins, patience: int | None, meter: Meter | None = None) -> list[Walk]:
        targets = list(margins.T.astype(np.float64, order="C"))
        moments = self.moments(targets, meter)
        return [Walk(self, y, own, patience, meter) for y, own in zip(targets, moments, strict=True)]

    def _run(self, descents: Sequence[Descent], meter: Meter | None = None) -> None:
        try:
            run_all(descents, self.gram, self.scratch, self._threads, None if meter is None else meter.counted)
        except TooManyRowsError as error:
            raise ValueError(
                f"a path has come near {error.needed} images, and the rows of {error.capacity} fit in memory: end it "
                f"at a larger `lambda_ratio`, or set `memory_gb` to {self._plan.gb_for_all}, enough for all rows."
            ) from error


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


def _tell_moments(meter: Meter, targets: int, share: float) -> None:
    meter.walked(MOMENTS * targets * share)


def _check_lambdas(lambdas: Floats, n_targets: int) -> Floats:
    lambdas = np.asarray(lambdas, np.float64)
    if lambdas.ndim == 1:
        lambdas = np.repeat(lambdas[:, None], n_targets, axis=1)
    if lambdas.ndim != 2 or 0 in lambdas.shape or lambdas.shape[1] != n_targets:
        raise ValueError(f"`lambdas` must have shape (L,) or (L, {n_targets}), but it is {lambdas.shape}.")
    if not (np.isfinite(lambdas).all() and (lambdas > 0).all() and (np.diff(lambdas, axis=0) <= 0).all()):
        raise ValueError("`lambdas` must be finite, larger than 0 and decreasing.")
    return lambdas


def check_ends(ends: Sequence[int], n: int) -> tuple[int, ...]:
    """Where prefixes of n rows end: whole numbers that rise to n."""
    checked = tuple(int(end) for end in ends)
    if checked[-1:] != (n,) or any(a >= b for a, b in pairwise((0, *checked))):
        raise ValueError(f"`ends` must rise from at least 1 to the number of rows, {n}, but it is {list(ends)}.")
    return checked


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
