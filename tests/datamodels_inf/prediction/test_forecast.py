import numpy as np
import pytest

from datamodels_inf.prediction.forecast import Forecast
from datamodels_inf.prediction.shapes import expected_shape
from datamodels_inf.shape import Shape, harmonic

M, ALPHA = 3000, 0.2


def forecast(spread=0.15, elasticity=0.3):
    """G(u) = 500·(u/u₁)^elasticity, so that R is known in closed form."""
    u = Forecast.levels(M, ALPHA)
    return Forecast(M, ALPHA, u, np.minimum(M - 1.0, 500.0 * (u / 1e-3) ** elasticity), spread)


def test_counts_solve_their_equation():
    """R = 500·(α·R/(m·H_m·u₁))^ε."""
    by = forecast().count(Shape.benjamini_yekutieli(M))
    exact = (500.0 * (ALPHA / (M * harmonic(M) * 1e-3)) ** 0.3) ** (1 / 0.7)
    assert by == pytest.approx(exact, rel=0.01)


def test_nothing_expected_is_nothing_found():
    u = Forecast.levels(M, ALPHA)
    assert Forecast(M, ALPHA, u, M * u, 0.1).count(Shape.benjamini_yekutieli(M)) == 0.0


def test_the_best_shape_beats_by_and_shapes_for_other_numbers():
    known = forecast(spread=0.01)
    best, found = known.best_shape(0.8), known.count(known.best_shape(0.8))
    assert found > 1.15 * known.count(Shape.benjamini_yekutieli(M))
    for factor in (0.3, 0.7, 1.5):
        assert known.count(expected_shape(M, np.array([factor * found]), 0.8)) <= found
    assert best.beta(found) / found > 3.0 / harmonic(M)


def test_a_doubtful_forecast_aims_lower():
    def centre(spread):
        shape = forecast(spread=spread).best_shape(0.8)
        return shape.support[np.argmax(shape.support * shape.mass)]

    assert centre(0.5) < centre(0.01)


def test_intervals_hold_the_expected_number_and_widen_with_doubt():
    shape = forecast().best_shape(0.8)
    narrow, wide = (forecast(spread=spread).interval(shape, 0.9) for spread in (0.1, 0.4))
    assert wide[0] < narrow[0] < forecast().count(shape) < narrow[1] < wide[1] <= M
