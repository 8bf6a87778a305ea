"""One target's way down a path of λ: working set, coordinate descent, duality gap.

For c = Zᵀy/n, G = ZᵀZ/n and y2 = ‖y‖²/n (y centred, Z standardised) the LASSO's objective is

    P(w) = ½(y2 − 2cᵀw + wᵀGw) + λ‖w‖₁,   g(w) = c − Gw,   P(0) = ½·y2,

and w is its minimum when |g_j| ≤ λ for all j, with g_j = λ·sign(w_j) where w_j ≠ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isqrt
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.threads import in_threads
from datamodels_inf.kernels.coordinate_descent import descend_and_look, steep_columns
from datamodels_inf.kernels.pair_counts import WORTH
from datamodels_inf.lasso.gram import NO_SQUARE, Gram

NEAR = 0.95
"""A column joins the working set when |g_j| exceeds this share of λ: most of these get a weight a step later."""
AT_LEAST = WORTH
"""Rows of the Gram matrix to ask for at a time, if there are so many: fewer are counted more slowly."""
INNER = 0.8
"""Of the largest gap over all columns: the gap over the working set at which to look at the others."""
STRIDE, LOOSE = 0.5, 1e-3
"""A larger step down than to this share of λ is taken in several, roughly solved: fewer columns join in vain."""
MOST_SWEEPS, MOST_ROUNDS = 32, 1000
"""Sweeps before g is computed anew, and how often that is done before a fit ends with a gap that is too large."""
GROWTH = 2048
"""Rows more than it needs, for a working set that is alone: with each so many its square is made anew."""
SINGULAR = 1e-6
"""Of the largest eigenvalue: smaller ones of a matrix in float32 are taken for 0."""
NEWTON_AFTER = 16
"""Rounds of sweeps before steps of Newton's: where columns depend on each other much, sweeps alone are slow."""


@dataclass(frozen=True, eq=False)
class Moments:
    """What P depends on: c, y2, and the mean of y before it was centred."""

    c: Floats
    y2: float
    mean: float


@dataclass(frozen=True, eq=False)
class Solution:
    """w at one λ, of the standardised columns and 0 outside `features`; its duality gap as a share of P(0)."""

    lam: float
    features: Ints
    w: Floats
    gap: float


class Scratch:
    """Square arrays that one target after the other works in: the first use of fresh memory is slow.

    Each has room for `most_rows` from the start, so that a working set grows in it without a copy; what it never
    comes to takes no memory.

    Parameters
    ----------
    count : so many are in use at a time.
    total_bytes : of `count` squares that are as large as `most_rows` allows.
    waiting_bytes : of copies of squares, of paths that wait for rows.
    columns : no working set is larger.
    bytes_with_rows : of squares and rows of the Gram matrix together.
    """

    def __init__(
        self, count: int, total_bytes: int, waiting_bytes: int, columns: int, bytes_with_rows: float = np.inf
    ) -> None:
        self.total_bytes, self.waiting_bytes, self.bytes_with_rows = total_bytes, waiting_bytes, bytes_with_rows
        self.most_rows = min(columns, isqrt(total_bytes // (4 * count)))
        self._count, self._lock = count, Lock()
        self._free: list[NDArray[np.float32]] = []

    def take(self, least: int) -> NDArray[np.float32]:
        """A square of at least `least` rows, its content left over."""
        with self._lock:
            for k, square in enumerate(self._free):
                if len(square) >= least:
                    return self._free.pop(k)
        size = max(least, self.most_rows)
        return np.empty((size, size), np.float32)

    def give(self, square: NDArray[np.float32]) -> None:
        """Only as many are kept as may be used together, and the largest of those that may not."""
        with self._lock:
            squares = sorted([*self._free, square], key=len)
            together = [s for s in squares if 0 < len(s) <= self.most_rows]
            larger = [s for s in squares if len(s) > self.most_rows]
            self._free = together[-self._count :] + larger[-1:]

    def forget(self, above: int = 0) -> None:
        """Free those that have more rows than this."""
        with self._lock:
            self._free = [square for square in self._free if len(square) <= above]


class Descent:
    """A path that goes on whenever the rows of the Gram matrix that it `needs` are there.

    Parameters
    ----------
    lambdas : decreasing.
    start : a solution nearby, to begin with.
    arrived : called with each solution; the path ends early when it answers False.
    """

    def __init__(
        self,
        gram: Gram,
        scratch: Scratch,
        moments: Moments,
        lambdas: Floats,
        tolerance: float,
        arrived: Callable[[Solution], bool],
        start: Solution | None = None,
    ) -> None:
        self._gram, self._scratch, self._moments = gram, scratch, moments
        self._lambdas, self._arrived = lambdas, arrived
        self._tolerance, self._loose = tolerance * 0.5 * moments.y2, max(tolerance, LOOSE) * 0.5 * moments.y2
        self._features: Ints = np.zeros(0, np.int64) if start is None else start.features
        self._w: Floats = np.zeros(0) if start is None else start.w
        self._inside = np.zeros(moments.c.size, np.bool_)
        self._inside[self._features] = True
        self._g: Floats | None = None
        self._before: tuple[float, Floats, Floats] | None = None
        """The latest solution: λ, w and g."""
        self._local = NO_SQUARE
        """The Gram matrix of the working set, as far as it is `filled`, in a square of `scratch`."""
        self._kept, self._filled = self._local, 0
        self._inner, self._rounds = INNER, 0
        """Of the λ that is being solved: they outlast a wait for rows, so that waiting changes no result."""
        self._step = 0
        self._level = 0.0 if start is None else start.lam
        """The λ of the latest solution, λ_max before the first."""
        self.needs: Ints = self._features
        self.finished = len(lambdas) == 0

    def rest(self, kept_bytes: int) -> None:
        """Give its square back to `scratch`; what is filled is kept where it takes at most `kept_bytes`.

        Else it is made again from the rows of the Gram matrix.
        """
        if self.finished or 4 * self._filled**2 > kept_bytes:
            self._kept, self._filled = NO_SQUARE, 0
        if len(self._local):
            self._kept = self._local[: self._filled, : self._filled].copy()
            self._scratch.give(self._local)
            self._local = NO_SQUARE

    @property
    def waits_for_room(self) -> bool:
        """Whether it stopped because its working set has become larger than it may be."""
        return not self.finished and self._gram.has(self.needs)

    def advance(self, most_rows: int) -> None:
        """Go down the path until it ends, rows are missing or the working set would have more than `most_rows`."""
        while not self.finished and self._gram.has(self.needs):
            if self._g is None:
                self._g = self._correlate()
                self._level = self._level or float(np.abs(self._g).max())
            lam = self._next()
            on_path = lam == self._lambdas[self._step]
            solution = self._solve(lam, self._tolerance if on_path else self._loose, most_rows)
            if solution is None:
                return
            self._level = lam
            if on_path:
                self._step += 1
                self.finished = not self._arrived(solution) or self._step == len(self._lambdas)
            if not self.finished:
                self._extrapolate(lam, self._next())

    def _next(self) -> float:
        """The λ to solve next: that of the path, or one on the way to it."""
        return max(float(self._lambdas[self._step]), STRIDE * self._level)

    def _extrapolate(self, lam: float, to: float) -> None:
        """Begin where the last two solutions point to: solutions are piecewise linear in λ, and g is linear in w."""
        assert self._g is not None
        w, g = self._w, self._g
        if self._before is not None and lam < self._before[0]:
            lam_before, w_before, g_before = self._before
            r = min(1.0, (to - lam) / (lam - lam_before))
            self._w = (1.0 + r) * w
            self._w[: w_before.size] -= r * w_before  # The columns that joined since come after these.
            self._g = g + r * (g - g_before)
        self._before = (lam, w.copy(), g)

    def _solve(self, lam: float, tolerance: float, most_rows: int) -> Solution | None:
        """The minimum at λ, or None where rows or room are missing."""
        assert self._g is not None
        gap = np.inf
        while self._rounds < MOST_ROUNDS:
            if not (self._join(steep_columns(self._g, self._inside, NEAR * lam)) and self._make_room(most_rows)):
                return None
            self._rounds += 1
            sweeps, gap = self._descend(lam, self._inner * tolerance)
            if gap <= tolerance:
                break
            if sweeps < MOST_SWEEPS and not steep_columns(self._g, self._inside, lam).size:
                self._inner *= 0.1  # The working set is complete; it was not solved well enough.
            if self._rounds % NEWTON_AFTER == 0 and self._rounds < MOST_ROUNDS:
                self._newton(lam)
                self._g = self._correlate()
        self._inner, self._rounds = INNER, 0
        kept = self._w != 0.0
        share = gap / (0.5 * self._moments.y2) if self._moments.y2 > 0.0 else 0.0
        return Solution(lam, self._features[kept], self._w[kept], max(0.0, share))

    def _join(self, new: Ints) -> bool:
        """Take columns into the working set, if their rows are there; else note what is needed."""
        if not self._gram.has(new):
            self.needs = np.concatenate([self._features, self._wanted(new.size)])
            return False
        self._features = np.concatenate([self._features, new])
        self._w = np.concatenate([self._w, np.zeros(new.size)])
        self._inside[new] = True
        self.needs = self._features
        return True

    def _wanted(self, count: int) -> Ints:
        """The columns outside the working set with the largest |g|: those that must join now, or a few more."""
        assert self._g is not None
        size = np.where(self._inside, -1.0, np.abs(self._g))
        spare = min(AT_LEAST, self._gram.capacity - self._features.size, int(np.count_nonzero(size > 0.0)))
        count = max(count, spare)
        return np.argpartition(-size, count - 1)[:count].astype(np.int64)

    def _make_room(self, most_rows: int) -> bool:
        """A square for the working set, if it may be so large."""
        m = self._features.size
        if m > most_rows:
            return False
        if len(self._local) < m:
            before = self._local if len(self._local) else self._kept
            grown = self._scratch.take(most_rows)
            grown[: self._filled, : self._filled] = before[: self._filled, : self._filled]
            if len(self._local):
                self._scratch.give(self._local)
            self._local, self._kept = grown, NO_SQUARE
        return True

    def _descend(self, lam: float, tolerance: float) -> tuple[int, float]:
        """(sweeps, duality gap over all columns) of a round of coordinate descent; w and g are new."""
        assert self._g is not None
        sweeps, self._g, gap = descend_and_look(
            self._gram.view,
            self._local,
            self._filled,
            self._features,
            np.argsort(self._features),
            self._w,
            self._moments.c,
            self._g,
            lam,
            self._moments.y2,
            tolerance,
            MOST_SWEEPS,
        )
        self._filled = self._features.size
        return sweeps, gap

    def _newton(self, lam: float) -> None:
        """Towards the minimum over the columns S with a weight, signs kept; a weight that comes to 0 leaves S.

        −∇P = r = g_S − λ·sign(w_S). The way is δ with G_SS δ = r; where G_SS is singular and there is none, it is what
        is left of r, along which ‖w‖₁ shrinks and the fit stays. How far: to the minimum along it, or the first 0.
        """
        assert self._g is not None
        some = np.flatnonzero(self._w)
        w, g = self._w[some], self._g[self._features[some]]
        gram = self._local[np.ix_(some, some)].astype(np.float64)
        for _ in range(w.size):
            left = np.flatnonzero(w)
            if left.size == 0:
                break
            r, part = g[left] - lam * np.sign(w[left]), gram[np.ix_(left, left)]
            delta = _solved(part, r)
            rest = r - part @ delta
            singular = np.abs(rest).max() > 1e-6 * lam
            way = rest if singular else delta
            slope, curvature = way @ r, way @ part @ way
            to_zero = np.divide(-w[left], way, out=np.full(left.size, np.inf), where=w[left] * way < 0.0)
            first = to_zero.min()
            t = min(first, slope / curvature) if curvature > 0.0 else first
            if not 0.0 < t < np.inf:
                break
            w[left] = np.where(to_zero <= t, 0.0, w[left] + t * way)
            g -= t * (gram[:, left] @ way)
            if t < first and not singular:
                break
        self._w[some] = w

    def _correlate(self) -> Floats:
        return self._gram.correlate(self._moments.c, self._features, self._w)


def _solved(gram: Floats, r: Floats) -> Floats:
    """δ with Gδ = r, by Cholesky's factors, or by least squares where G is singular: much slower."""
    factor, failed = lapack.dpotrf(gram, lower=True)
    diagonal = np.diagonal(factor) ** 2
    if failed or diagonal.min() <= SINGULAR * diagonal.max():
        return np.asarray(np.linalg.lstsq(gram, r, rcond=SINGULAR)[0])
    return np.asarray(lapack.dpotrs(factor, r, lower=True)[0])


def run_all(
    descents: Sequence[Descent],
    gram: Gram,
    scratch: Scratch,
    threads: int,
    told: Callable[[float], object] | None = None,
) -> None:
    """All the way down, together: rows that several of them need are counted once.

    Where the rows of all do not fit in memory, the first ones go on alone and the others wait. A working set that is
    larger than `scratch` allows for each of the threads goes on when the others do not. `told` is called with what is
    counted, in rows.
    """
    live = [descent for descent in descents if not descent.finished]
    while live:
        group = _fitting(live, gram.capacity)

        def advance(descent: Descent, most_rows: int, kept: int = scratch.waiting_bytes // len(group)) -> None:
            descent.advance(most_rows)
            descent.rest(kept)

        gram.require(np.unique(np.concatenate([descent.needs for descent in group])), told)
        in_threads(partial(advance, most_rows=scratch.most_rows), group, threads)
        for descent in group:
            while descent.waits_for_room:
                advance(descent, _room_alone(descent, gram, scratch))
        scratch.forget(above=scratch.most_rows)
        live = [descent for descent in live if not descent.finished]


def _room_alone(descent: Descent, gram: Gram, scratch: Scratch) -> int:
    """How many rows the square of a working set may have that is larger than others may be.

    It takes the memory of other squares and of rows that it does not need: these are counted again when needed.
    """
    most = min(gram.columns.n_columns, descent.needs.size + GROWTH)
    scratch.forget()
    gram.release(scratch.bytes_with_rows - 4.0 * most**2, descent.needs)
    return most


def _fitting(descents: Sequence[Descent], capacity: int) -> Sequence[Descent]:
    """The longest beginning whose rows fit together, and at least one."""
    union: set[int] = set()
    for count, descent in enumerate(descents):
        union.update(descent.needs.tolist())
        if count and len(union) > capacity:
            return descents[:count]
    return descents
