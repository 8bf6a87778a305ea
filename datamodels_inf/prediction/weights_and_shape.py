"""Weights and a shape from the fit rows alone, chosen to make the expected number of rejections largest.

In two passes over the tests, in chunks of any size: count their cells (`family`), then look up their weights.

    family = sum of CountedFamily.of(evidence_cells(…)) over chunks
    found = predict(family, alpha=0.2)
    found.shape, found.weights(evidence_cells(…)) of each chunk

Nothing here sees a tested row, so that the correction of `shape.py` holds with what comes out, however wrong it is. A
wrong prediction only costs findings, and not many: no test has a weight below LEAST_WEIGHT, and β is nowhere below
FLOOR times BY's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from datamodels_inf.internal.checks import Floats, Ints, as_array, check_alpha, check_fraction, check_number
from datamodels_inf.prediction.family import CountedFamily, cells_of
from datamodels_inf.prediction.forecast import Forecast
from datamodels_inf.prediction.levels import best_weights
from datamodels_inf.prediction.mixture import ScaleMixture
from datamodels_inf.prediction.outlook import NORMAL, Outlook, PvalueLaw
from datamodels_inf.shape import Shape

LEAST_WEIGHT = 0.8
FLOOR = 0.9
"""Both measured on simulated families (docs/prior.md)."""
FEWEST_TESTS = 20
"""Of fewer no law of effects can be learned."""
CONFIDENCE = 0.9
"""Of the interval of the number of rejections."""
ROUNDS = 2
"""Weights depend on the threshold and the threshold on the weights; the second round changes little."""


def evidence_cells(
    estimate: ArrayLike, standard_error: ArrayLike, test_error: ArrayLike, efficiency: ArrayLike = 1.0
) -> Ints:
    """The cell of each test: z = estimate/standard_error and gain = efficiency·standard_error/test_error.

    estimate, standard_error : of the effect, on the fit rows; an infinite error says that nothing is known.
    test_error : the standard error that the effect will have on the tested rows.
    efficiency : non-centrality of the test, as a share of effect/test_error; 0 for a test that cannot find it.
    """
    arrays = (estimate, standard_error, test_error, efficiency)
    names = ("estimate", "standard_error", "test_error", "efficiency")
    values = [as_array(name, array).astype(np.float64) for name, array in zip(names, arrays, strict=True)]
    effect, error, future, share = np.broadcast_arrays(*values)
    bad = np.isnan(effect) | ~(error >= 0.0) | ~(future >= 0.0) | ~(share >= 0.0) | np.isinf(share)
    if effect.ndim != 1 or bad.any():
        raise ValueError(f"`{'`, `'.join(names)}` must be vectors without NaN, and only estimates below 0.")
    known = np.isfinite(effect) & np.isfinite(error) & (error > 0.0) & (future > 0.0)
    z = np.divide(effect, error, out=np.zeros(effect.shape), where=known)
    gain = np.divide(share * np.where(known, error, 0.0), future, out=np.full(effect.shape, np.inf), where=known)
    return cells_of(z, gain)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the fit rows expect of a family of tests.

    cell_weight: w of each cell of `family`. shape: ν. reason: why w = 1 and ν is BY's; empty where they are not.
    expected: the number of rejections. interval: of it, with CONFIDENCE. expected_by: with w = 1 and BY's ν.
    forecast: how many tests are expected to have p ≤ w·u, by u. mixture: the law of effects. None where unknown.
    """

    family: CountedFamily
    alpha: float
    cell_weight: Floats
    shape: Shape
    expected: float | None = None
    interval: tuple[float, float] | None = None
    expected_by: float | None = None
    forecast: Forecast | None = None
    mixture: ScaleMixture | None = None
    reason: str = ""

    def weights(self, cells: Ints) -> Floats:
        """w of tests in these cells; over the family their mean is 1."""
        return self.family.look_up(self.cell_weight, cells)

    def figures(self) -> dict[str, Any]:
        """What a manifest should hold: numbers, lists and sentences."""
        figures = {"n_tests": self.family.size, "alpha": self.alpha, "reason": self.reason}
        if self.forecast is None or self.mixture is None:
            return figures
        support, mass = self.shape.support, self.shape.mass
        return figures | {
            "expected": self.expected,
            "interval": self.interval,
            "expected_by": self.expected_by,
            "centre": int(support[np.argmax(support * mass)]),
            "spread": self.forecast.spread,
            "weight_range": [float(self.cell_weight.min()), float(self.cell_weight.max())],
            "effect_scale": self.mixture.scale.tolist(),
            "effect_share": self.mixture.share.tolist(),
        }


def predict(
    family: CountedFamily,
    *,
    alpha: float,
    law: PvalueLaw = NORMAL,
    sharing: float = 1.0,
    floor: float = FLOOR,
    least_weight: float = LEAST_WEIGHT,
) -> Prediction:
    """Weights, shape and the expected number of rejections of a family at level α.

    law: how p-values depend on z-scores (`Sensitivity.law`). sharing: in how many tests of a target an image is, on
    average over those that are in one. floor: β is nowhere below so much of BY's. least_weight: no test has less; both
    are what a wrong prediction can cost.

    >>> rng = np.random.default_rng(0)
    >>> effect = np.where(rng.random(2000) < 0.1, 4.0 * rng.standard_normal(2000), 0.0)
    >>> cells = evidence_cells(effect + rng.standard_normal(2000), np.ones(2000), np.ones(2000))
    >>> found = predict(CountedFamily.of(cells), alpha=0.2)
    >>> found.expected > found.expected_by, round(float(found.weights(cells).mean()), 12)
    (True, 1.0)
    """
    check_alpha(alpha)
    check_fraction("least_weight", least_weight)
    if check_number("sharing", sharing) < 1.0:
        raise ValueError(f"`sharing` must be at least 1, but it is {sharing}.")
    known = family.known
    count = family.count[known]
    if family.size < FEWEST_TESTS:
        return without_prediction(family, alpha, f"of fewer than {FEWEST_TESTS} tests nothing can be learned")
    if not count.size:
        return without_prediction(family, alpha, "the fit rows know nothing about these tests")
    mixture = ScaleMixture.fit(family.z, count)
    outlook = Outlook(family.z, family.gain, mixture, law)
    forecast = _forecast(outlook, count, np.ones(len(count)), family.size, alpha)
    expected_by = forecast.count(Shape.benjamini_yekutieli(family.size))
    forecast = replace(forecast, spread=prediction_spread(family.gain, count, expected_by, sharing))
    cell_weight = np.ones(len(family.cells))
    for _ in range(ROUNDS):
        shape = forecast.best_shape(floor)
        u = alpha * float(shape.beta(max(forecast.count(shape), 1.0))) / family.size
        cell_weight[known] = best_weights(outlook, count, u, least_weight)
        forecast = _forecast(outlook, count, cell_weight[known], family.size, alpha, forecast.spread)
    shape = forecast.best_shape(floor)
    if (expected := forecast.count(shape)) <= expected_by:
        return without_prediction(family, alpha, "the fit rows expect no more findings than BY's correction has")
    interval = forecast.interval(shape, CONFIDENCE)
    return Prediction(family, alpha, cell_weight, shape, expected, interval, expected_by, forecast, mixture)


def without_prediction(family: CountedFamily, alpha: float, reason: str) -> Prediction:
    """w = 1 and BY's ν."""
    if family.size < 1:
        raise ValueError("`family` must hold at least one test.")
    shape = Shape.benjamini_yekutieli(family.size)
    return Prediction(family, alpha, np.ones(len(family.cells)), shape, reason=reason)


def prediction_spread(gain: Floats, count: Ints, expected: float, sharing: float = 1.0) -> float:
    """sd of the error of the log odds of a rejection: √((gain/10)² + 2·sharing/expected), a gain of 1 to 5.

    Where the tested rows see much smaller effects than the fit rows, these can say little about their number; tests
    that share an image are found together or not. Measured on simulated families (docs/prior.md).
    """
    typical = float(np.sqrt(count @ gain**2 / count.sum()))
    return float(np.hypot(0.1 * np.clip(typical, 1.0, 5.0), np.sqrt(2.0 * sharing / max(expected, 1.0))))


def _forecast(outlook: Outlook, count: Ints, weight: Floats, m: int, alpha: float, spread: float = 0.0) -> Forecast:
    """G by the outlook of the known tests; the others of the m count as if they had no effect."""
    u = Forecast.levels(m, alpha)
    expected = np.array([float(count @ outlook.chance(np.minimum(1.0, weight * level))) for level in u])
    return Forecast(m, alpha, u, expected + (m - count.sum()) * u, spread)
