"""How well scores predict the outcomes of held-out models: LDS and R², with bootstrap intervals over models.

Σ_{i in mask} s_i is what scores predict of a mask, in a unit of their own.

- *LDS*, the linear datamodeling score: Spearman's correlation of that sum and the outcome over the models, the mean
  over targets; 0 for a target on which the scores predict the same for every mask. Its sign counts.
- *R²*: 1 − Σ(y − a·Σs − b)² / Σ(y − ȳ)² over the models, the mean over targets, with a and b of each target by least
  squares on rows that are not tested (`datamodels_inf.calibration`). Scores with a turned sign get a negative a, and
  no worse an R².

Intervals: models are drawn with replacement, the same draws for all methods and targets; each resample gives both
figures anew, ranks included (`kernels.resampled_ranks`). A figure v of few models tends to lie off the truth by some b,
which the resamples repeat: their mean is about v + b. The mean over many targets keeps b while its noise shrinks, so
that quantiles of the resamples alone would miss the truth, v − b; the interval goes from their α/2 to their 1 − α/2
quantile, moved by −2b. It need not be centred on v. Intervals are about other models of the same targets, not about
other targets; scores and a, b stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints, check_fraction, check_integer
from datamodels_inf.internal.threads import in_threads

RESAMPLES = 1000
ROWS_AT_ONCE = 64
"""Resamples whose sums are made together."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Predictions:
    """One method on some targets: LDS and R² of each, and their sums over the targets in each resample.

    Parts of many targets are joined by `+`. Targets whose outcomes are constant are left out.
    """

    lds: Floats
    r2: Floats
    lds_resampled: Floats
    r2_resampled: Floats

    def __add__(self, other: Predictions) -> Predictions:
        return Predictions(
            np.concatenate([self.lds, other.lds]),
            np.concatenate([self.r2, other.r2]),
            self.lds_resampled + other.lds_resampled,
            self.r2_resampled + other.r2_resampled,
        )

    def intervals(self, confidence: float = 0.95) -> tuple[Interval, Interval]:
        """(LDS, R²), the means over targets; NaN where there is no target."""
        check_fraction("confidence", confidence)
        pairs = ((self.lds, self.lds_resampled), (self.r2, self.r2_resampled))
        lds, r2 = (_interval(values, sums, confidence) for values, sums in pairs)
        return lds, r2


def _interval(values: Floats, sums: Floats, confidence: float) -> Interval:
    if not values.size:
        return Interval(np.nan, np.nan, np.nan)
    value, resampled = float(values.mean()), sums / values.size
    low, high = np.quantile(resampled, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    moved = 2.0 * (float(resampled.mean()) - value)
    return Interval(value, float(low) - moved, min(1.0, float(high) - moved))


def draw_resamples(n: int, count: int = RESAMPLES, *, seed: int = 0) -> NDArray[np.int16]:
    """(count, n): how often each of n models is taken, in draws of n with replacement."""
    check_integer("n", n, 2)
    check_integer("count", count, 1)
    rng = np.random.default_rng([seed, n])
    counts = np.empty((count, n), np.int16)
    for row in counts:
        row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
    return counts


def predictions(
    sums: Floats, outcomes: Floats, scale: Floats, bias: Floats, counts: NDArray[np.int16], *,
    higher_is_better: bool = True, threads: int = 1,
) -> Predictions:  # fmt: skip
    """LDS and R² of one method: `sums` = masks @ scores and `outcomes`, both (n, T), and a, b of each target.

    With `higher_is_better` False, scores that help lower the outcome: LDS is that with the outcome's negative.
    """
    varies = np.ptp(outcomes, axis=0) > 0.0
    x, y = sums[:, varies], outcomes[:, varies].astype(np.float64)
    sign = 1.0 if higher_is_better else -1.0
    lds, resampled = np.zeros(x.shape[1]), np.zeros((x.shape[1], len(counts)))
    everyone = np.ones((1, len(x)), np.int16)

    def of_target(t: int) -> None:
        if np.ptp(x[:, t]) > 0.0:
            lds[t] = _spearman(x[:, t], sign * y[:, t], everyone)[0]
            resampled[t] = np.nan_to_num(_spearman(x[:, t], sign * y[:, t], counts))

    in_threads(of_target, range(x.shape[1]), max(1, min(threads, x.shape[1])))
    errors = (y - scale[varies] * x - bias[varies]) ** 2
    centred = y - y.mean(axis=0)
    return Predictions(
        lds, _r2(errors, centred, everyone)[0], resampled.sum(axis=0), _r2(errors, centred, counts).sum(axis=1)
    )


def _spearman(x: Floats, y: Floats, counts: NDArray[np.int16]) -> Floats:
    """(resamples,)."""
    from datamodels_inf.kernels.resampled_ranks import resampled_spearman  # Brings Numba.

    out = np.empty(len(counts))
    resampled_spearman(counts, *_order(x), *_order(y), out)
    return out


def _order(values: Floats) -> tuple[Ints, NDArray[np.bool_]]:
    """(models by rising value, whether each is the last of its value)."""
    order = np.argsort(values, kind="stable")
    return order, np.append(np.diff(values[order]) != 0.0, True)


def _r2(errors: Floats, centred: Floats, counts: NDArray[np.int16]) -> Floats:
    """(resamples, T): 1 − Σe²/Σ(y − ȳ)², ȳ the mean of the resample; 0 where a resample has one outcome alone."""
    squares, out = centred**2, np.empty((len(counts), centred.shape[1]))
    for start in range(0, len(counts), ROWS_AT_ONCE):
        weights = counts[start : start + ROWS_AT_ONCE].astype(np.float64)
        variation = weights @ squares - (weights @ centred) ** 2 / len(errors)
        unknown = variation <= 1e-12 * squares.sum(axis=0)
        share = (weights @ errors) / np.where(unknown, 1.0, variation)
        out[start : start + ROWS_AT_ONCE] = np.where(unknown, 0.0, 1.0 - share)
    return out
