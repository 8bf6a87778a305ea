"""Sums of rounded numbers: exact for what is rounded, near for what is not, the same in one pass or in many."""

from fractions import Fraction

import numpy as np
import pytest

from datamodels_inf.internal.whole_sums import ColumnWords, RowWords, WholeNumbers, column_sums, products, row_sums
from datamodels_inf.masks import PackedMasks
from datamodels_inf.scores import on_grid


@pytest.mark.parametrize("scale", (1e-300, 1.0, 1e300, 0.0))
def test_rounding_is_fine_enough(scale):
    values = scale * np.random.default_rng(0).standard_normal((1000, 3))
    numbers = WholeNumbers.of(values)
    assert np.abs(numbers.whole).sum(axis=0).max() < 2**62
    np.testing.assert_allclose(numbers.whole * numbers.step, values, rtol=0, atol=scale * 1e-14)


def test_sums_are_those_of_the_rounded_numbers():
    """Against fractions, which lose nothing."""
    rng = np.random.default_rng(1)
    masks, values = rng.random((50, 20)) < 0.5, rng.standard_normal(50) * 10.0 ** rng.integers(-5, 5, 50)
    numbers = WholeNumbers.of(values)
    exact = [sum((Fraction(int(v)) for v in numbers.whole[masks[:, j], 0]), Fraction(0)) for j in range(20)]
    found = column_sums(PackedMasks.from_bool(masks), values, threads=1)
    assert found.tolist() == [float(total * Fraction(numbers.step[0])) for total in exact]


@pytest.mark.parametrize("shape", ((1, 3), (70, 9), (513, 100), (2100, 2100)))
def test_one_target_and_sixteen_give_the_same_bits(shape):
    rng = np.random.default_rng(2)
    masks = PackedMasks.from_bool(rng.random(shape) < 0.3)
    over_rows, over_columns = rng.standard_normal((shape[0], 16)), rng.standard_normal((shape[1], 16))
    columns, rows = ColumnWords(masks, threads=2), RowWords(masks)
    dense = masks.to_bool().astype(float)
    down, across = columns.sums(WholeNumbers.of(over_rows)), rows.sums(WholeNumbers.of(over_columns))
    np.testing.assert_allclose(down, dense.T @ over_rows, atol=1e-11)
    np.testing.assert_allclose(across, dense @ over_columns, atol=1e-11)
    for t in (0, 15):
        assert np.array_equal(column_sums(masks, over_rows[:, t], threads=2), down[:, t])
        assert np.array_equal(row_sums(masks, over_columns[:, t], threads=2), across[:, t])


@pytest.mark.parametrize("shape", ((1, 3), (70, 9), (1100, 130)))
@pytest.mark.parametrize("targets", (1, 16, 37))
def test_products_are_near_those_of_floats_and_the_same_in_any_number_of_threads(shape, targets):
    """As near as n·2⁻⁶¹·Σ|w| and the rounding of one float64."""
    rng = np.random.default_rng(3)
    masks = PackedMasks.from_bool(rng.random(shape) < 0.5)
    weights = rng.standard_normal((shape[1], targets)) * 10.0 ** rng.integers(-12, 12, targets)
    found = products(masks, weights)
    exact = masks.to_bool().astype(np.longdouble) @ weights.astype(np.longdouble)
    bound = (shape[1] * 2.0**-61 + 2.0**-53) * np.abs(weights).sum(axis=0)
    assert (np.abs(found - exact) <= bound).all()
    np.testing.assert_array_equal(products(masks, weights, threads=3), found)
    np.testing.assert_array_equal(products(masks, weights[:, :1]), found[:, :1])


def test_products_on_a_grid_are_exact():
    """One weight that is far larger than all others together leaves the others exact, too."""
    rng = np.random.default_rng(4)
    masks = PackedMasks.from_bool(rng.random((300, 500)) < 0.5)
    theta = rng.standard_normal(500) * 1e-9
    theta[7] = 1e3
    theta = on_grid(theta)
    whole = [sum(map(Fraction, theta[row].tolist()), Fraction(0)) for row in masks.to_bool()]
    assert products(masks, theta[:, None])[:, 0].tolist() == [float(total) for total in whole]


@pytest.mark.parametrize("size", (0.0, 5e-324, 1e-300, 1e300))
def test_products_of_the_smallest_and_the_largest_numbers(size):
    masks = PackedMasks.from_bool(np.array([[1, 0, 1], [1, 1, 0], [0, 0, 0]], bool))
    weights = size * np.array([[1.0], [2.0], [4.0]])
    np.testing.assert_array_equal(products(masks, weights)[:, 0], size * np.array([5.0, 3.0, 0.0]))


def test_products_tell_how_many_rows_are_done():
    told = []
    masks = PackedMasks.from_bool(np.random.default_rng(5).random((1300, 20)) < 0.5)
    products(masks, np.ones((20, 2)), threads=2, progress=told.append)
    assert sum(told) == 1300
    assert len(told) > 2


def test_a_target_beside_one_whose_sum_overflows_is_what_it_is_alone():
    masks = PackedMasks.from_bool(np.ones((2, 40), bool))
    weights = np.stack([np.full(40, 1e307), np.full(40, 1e-310)], axis=1)
    with np.errstate(over="ignore"):
        both = products(masks, weights)
    assert both[0, 0] == np.inf
    np.testing.assert_array_equal(both[:, 1:], products(masks, weights[:, 1:]))
    assert both[0, 1] == pytest.approx(4e-309, rel=1e-12)
