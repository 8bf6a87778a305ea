"""What both tests share: scores before and after a swap, and how often the untouched one is the larger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.internal.checks import (
    Floats,
    Ints,
    check_choice,
    check_features,
    check_integer,
    check_response,
    check_sample_size,
)
from datamodels_inf.internal.coins import coin_keys, flip_coins
from datamodels_inf.internal.column_words import column_words, in_chunks, is_masks, used_columns
from datamodels_inf.masks import PackedMasks
from datamodels_inf.scores import Features, LinearScore, columns_of

Score: TypeAlias = Callable[[NDArray[np.generic], Floats], Floats]
Order: TypeAlias = Literal["permuted", "given"]

PAIRS_AT_ONCE = 32_768
"""What a thread takes, and sweeps, at a time; changes no result."""
PERMUTATION = 0x5A1F
"""Beside the seed, so that the permutation of rows has nothing to do with other draws of that seed."""


@dataclass(frozen=True)
class Sample:
    """Checked features, dense or bit-packed, and responses."""

    x: Features
    y: Floats

    @classmethod
    def of(cls, x: ArrayLike | PackedMasks, y: ArrayLike) -> Sample:
        """Check `x` (n, d), of at least 2 rows, and `y` (n,)."""
        features = x if isinstance(x, PackedMasks) else check_features(x)
        n = features.shape[0]
        check_sample_size(n)
        return cls(features, check_response(y, n))

    @property
    def d(self) -> int:
        """The number of columns of x."""
        return int(self.x.shape[1])

    @property
    def dense(self) -> NDArray[np.generic]:
        """x as an array: masks unpacked to bool, anything else as it is."""
        return self.x.to_bool() if isinstance(self.x, PackedMasks) else self.x

    def __getitem__(self, rows: slice) -> Sample:
        return Sample(self.x[rows], self.y[rows])


@dataclass(frozen=True)
class Counts:
    """For each pair, over `size` comparisons: how many were won, tied, and tied with the coin in favour."""

    wins: Ints
    ties: Ints
    coins: Ints
    size: int


def halves(n: int, order: Order, seed: int) -> tuple[Ints, Ints]:
    """The rows that Algorithm 1 leaves untouched, and those that it swaps and compares them with, one by one.

    "given": rows 1..h and h+1..2h, as the paper has them; whatever drifts along the rows then differs between the two.
    "permuted": the same of a seeded permutation of the rows. Of two rows, each is then the untouched one with chance
    ½, so that under H0 with τ = 0 a comparison is won with chance ½ even where the rows do not share one law.
    """
    check_choice("order", order, ("permuted", "given"))
    rows = np.random.default_rng([PERMUTATION, seed]).permutation(n) if order == "permuted" else np.arange(n)
    return rows[: n // 2], rows[n // 2 : 2 * (n // 2)]


class Comparison:
    """The scores of one sample under one score function, ready to be compared with those after any swap.

    Paired, sample m is compared with its own swap. Unpaired, the untouched with the swapped rows of `halves`. Linear
    scores are compared by their keys, of which the score is an increasing function.

    `f`: the predictor of every row where it is at hand; θ̂ of the score is on its grid then (`LinearScore.prepared`).
    """

    def __init__(
        self, sample: Sample, score: Score, *, halves: tuple[Ints, Ints] | None = None, f: Floats | None = None
    ) -> None:
        self.sample = sample
        self.paired = halves is None
        self._first: Ints | slice = slice(None) if halves is None else halves[0]
        self._second: Ints | slice = slice(None) if halves is None else halves[1]
        self.size = len(sample.y[self._first])
        if isinstance(score, LinearScore):
            score = score.prepared(sample.x) if f is None else score
            _check_overflow(score, sample)
            self._f = score.predictor(sample.x) if f is None else f
            self.untouched = score.key(self._f, sample.y)[self._first]
            rounding = score.rounding(sample.x, sample.y)
            self.tolerance = rounding[self._first] + rounding[self._second]
            self.exact = not self.tolerance.any()
        elif callable(score):
            rows = sample.dense[self._first].copy(), sample.y[self._first].copy()  # It may write into them.
            self.untouched = _check_scores(score(*rows), self.size)
            self.tolerance = np.zeros(self.size)
            self.exact = True
        else:
            raise ValueError(f"`score` must be a callable of x and y, but it is {score!r}.")
        self.score = score

    def swapped(self, pair: Ints) -> Floats:
        """Keys of the compared samples after swapping the (2, g) `pair`; the reference for the compiled counts.

        A callable sees the untouched and the swapped rows as arrays of one shape, compared rows at the same place, so
        that rounding inside it that depends on the place (BLAS) cannot decide a tie.
        """
        x, y, score = self.sample.x, self.sample.y, self.score
        if isinstance(score, LinearScore):
            return score.key(self._f + score.shift(x, pair), y)[self._second]
        rows = swap_columns(self.sample.dense[self._second], pair)
        return _check_scores(score(rows, y[self._second].copy()), self.size)

    def _tied(self, swapped: Floats, pair: Ints) -> NDArray[np.bool_]:
        tolerance = self.tolerance
        if not self.exact and isinstance(self.score, LinearScore):
            tolerance = tolerance + self.score.swap_rounding(self.sample.x, self.sample.y, pair)[self._second]
        return np.asarray(np.abs(self.untouched - swapped) <= tolerance)

    def differences(self, pair: Ints) -> Floats:
        """T(untouched) − T(swapped), exactly 0 where the two are tied."""
        untouched, swapped = self.untouched, self.swapped(pair)
        tied = self._tied(swapped, pair)
        if isinstance(self.score, LinearScore):
            untouched, swapped = self.score.value(untouched), self.score.value(swapped)
        return np.where(tied, 0.0, untouched - swapped)

    def count(self, pairs: Ints, seed: int | None) -> Counts:
        """Counts pair by pair, in numpy, for any score. Without a seed no coin is flipped."""
        wins, ties, coins = (np.zeros(len(pairs), np.int64) for _ in range(3))
        for p, pair in enumerate(pairs):
            swapped = self.swapped(pair)
            tied = self._tied(swapped, pair)
            wins[p] = np.count_nonzero((self.untouched > swapped) & ~tied)
            ties[p] = np.count_nonzero(tied)
            if ties[p] and seed is not None:
                coins[p] = np.count_nonzero(tied & flip_coins(coin_keys(pairs[p : p + 1], seed), self.size))
        return Counts(wins, ties, coins, self.size)

    def count_many(self, pairs: Ints, seed: int | None, threads: int) -> Counts:
        """The same counts: compiled, O(n) per pair and in parallel, for linear scores."""
        check_integer("threads", threads, 1)
        if not isinstance(self.score, LinearScore):
            return self.count(pairs, seed)
        count = self._kernel(pairs, seed, threads)
        wins, ties, coins = np.zeros((3, len(pairs)), np.int64)

        def run(start: int) -> None:
            part = slice(start, start + PAIRS_AT_ONCE)
            wins[part], ties[part], coins[part] = count(part)

        in_chunks(run, len(pairs), PAIRS_AT_ONCE, threads)
        return Counts(wins, ties, coins, self.size)

    def _kernel(self, pairs: Ints, seed: int | None, threads: int) -> Callable[[slice], tuple[Ints, Ints, Ints]]:
        """What counts a part of the pairs: on columns of bits for masks, on columns of numbers for any other x."""
        from datamodels_inf.kernels.dense_swap import count_wins, count_wins_of_masks  # Bring Numba.
        from datamodels_inf.kernels.sweep_swap import sweep_wins

        assert isinstance(self.score, LinearScore)
        x, f, score = self.sample.x, self._f, self.score
        offset, slope = score.affine(self.sample.y)
        used, left, right = used_columns(pairs)
        coefficients, keys, flip = score.coefficients(pairs), coin_keys(pairs, seed or 0), seed is not None
        if is_masks(x):
            words = column_words(x, used, self._second, threads)
            offset, slope, f = offset[self._second], slope[self._second], f[self._second]

            def of_masks(part: slice) -> tuple[Ints, Ints, Ints]:
                rows = self.untouched, offset, slope, f, score.absolute, words
                if left.shape[1] == 1:
                    one = left[part, 0], right[part, 0], coefficients[part, 0]
                    return sweep_wins(*rows, *one, keys[part], flip)
                return count_wins_of_masks(*rows, left[part], right[part], coefficients[part], keys[part], flip)

            return of_masks
        rows = np.arange(len(f)) if self.paired else np.concatenate([self._first, self._second])
        offset, slope, f = offset[rows], slope[rows], f[rows]
        columns = np.ascontiguousarray(columns_of(x, used)[rows].T, np.float64)
        errors = score.error_coefficients(pairs) if not self.exact else np.zeros_like(coefficients)

        def of_numbers(part: slice) -> tuple[Ints, Ints, Ints]:
            return count_wins(
                offset, slope, f, score.absolute, self.tolerance, self.exact, self.paired, columns,
                left[part], right[part], coefficients[part], errors[part], keys[part], flip,
            )  # fmt: skip

        return of_numbers


def swap_columns(x: NDArray[np.generic], pair: Ints) -> NDArray[np.generic]:
    """A copy of x with the columns pair[0] and pair[1] exchanged one by one."""
    swapped = x.copy()
    swapped[:, pair[0]], swapped[:, pair[1]] = x[:, pair[1]], x[:, pair[0]]
    return swapped


def _check_overflow(score: LinearScore, sample: Sample) -> None:
    """Refuse scores that overflow before or after some swap: |f| is at most max|x|·Σ|θ̂| then."""
    offset, slope = score.affine(sample.y)
    x = sample.x
    largest = 1.0 if isinstance(x, PackedMasks) else max(abs(float(x.min())), abs(float(x.max())))
    with np.errstate(over="ignore", invalid="ignore"):
        bound = np.abs(offset).max() + np.abs(slope).max() * largest * np.abs(score.theta).sum()
        finite = np.isfinite(bound) and np.isfinite(score.value(np.array([bound]))).all()
    if not finite:
        raise ValueError("`score` must return finite numbers, but with these `x`, `y` and `theta` it overflows.")


def _check_scores(scores: ArrayLike, n: int) -> Floats:
    try:
        array = np.asarray(scores)
    except ValueError:  # A ragged list.
        array = np.empty(0, object)
    if array.shape != (n,):
        raise ValueError(f"`score` must return shape ({n},), one score per row, but it returned {array.shape}.")
    with np.errstate(over="ignore"):
        values = array.astype(np.float64) if array.dtype.kind in "biuf" else None
    if values is None or not np.isfinite(values).all():
        raise ValueError("`score` must return finite real numbers, but it returned NaN, infinity or another type.")
    return values
