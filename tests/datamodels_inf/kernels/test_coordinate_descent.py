"""The compiled loops of coordinate descent, and those on columns of bits, against their naive twins."""

import numpy as np
import pytest
from gram_checks import made
from lasso_problems import random_masks
from naive_lasso import (
    naive_add_columns,
    naive_descend,
    naive_duality_gap,
    naive_gram,
    naive_transpose_bits,
    random_words,
    standardised,
    unpack_words,
)

from datamodels_inf.kernels.coordinate_descent import (
    add_columns,
    count_ones,
    descend,
    descend_and_look,
    duality_gap,
    steep_columns,
    transpose_bits,
)


def test_steep_columns_are_those_outside_beyond_the_level():
    g = np.array([0.5, -0.6, 0.4, -0.4, 0.7, np.nextafter(0.5, 1)])
    inside = np.array([False, False, False, False, True, False])
    np.testing.assert_array_equal(steep_columns(g, inside, 0.5), [1, 5])
    assert steep_columns(g, inside, 0.6).size == 0


def small_lasso(seed, n=60, d=9):
    rng = np.random.default_rng(seed)
    z = standardised(rng.random((n, d)) < 0.5)
    y = z @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) + rng.standard_normal(n)
    y -= y.mean()
    return z, y, z.T @ y / n, z.T @ z / n, y @ y / n


@pytest.mark.parametrize("share", (0.9, 0.3, 0.01))
@pytest.mark.parametrize("seed", range(4))
def test_duality_gap_equals_the_one_from_the_data(seed, share):
    """For any w; all columns are passed, then those with a weight alone."""
    z, y, c, gram, y2 = small_lasso(seed)
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(9) * (rng.random(9) < 0.6) * rng.choice([0.01, 1.0])
    g, lam = c - gram @ w, share * np.abs(c).max()
    expected, steepest, kept = naive_duality_gap(z, y, w, lam), np.abs(g).max(), w != 0
    assert duality_gap(c, w, g, lam, y2, steepest) == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert duality_gap(c[kept], w[kept], g[kept], lam, y2, steepest) == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_duality_gap_at_the_edges():
    nothing = np.zeros(0)
    assert duality_gap(nothing, nothing, nothing, 0.0, 0.0, 0.0) == 0.0
    assert duality_gap(nothing, nothing, nothing, 0.5, 2.0, 0.5) == pytest.approx(0.0)  # λ_max: w = 0 is the minimum.
    assert duality_gap(nothing, nothing, nothing, 0.25, 2.0, 0.5) == pytest.approx(1.0 - (0.5 * 2 - 0.5 * 0.25 * 2))


@pytest.mark.parametrize(("share", "tolerance", "most"), [(0.5, 1e-3, 1000), (0.1, 1e-5, 1000), (0.01, 1e-13, 4)])
@pytest.mark.parametrize("seed", range(4))
def test_descend_equals_its_naive_twin(seed, share, tolerance, most):
    """To float32, which the loop takes for what it takes off g."""
    _, _, c, gram, y2 = small_lasso(seed)
    gram = gram.astype(np.float32)
    np.fill_diagonal(gram, 1.0)
    start = np.random.default_rng(seed).standard_normal(9) * 0.1
    lam = share * np.abs(c).max()
    expected, expected_sweeps = naive_descend(gram, c, start, lam, y2, tolerance, most)
    w, g = start.copy(), c - gram.astype(np.float64) @ start
    room = np.full((12, 12), np.nan, np.float32)  # A working set's copy has room for more columns.
    room[:9, :9] = gram
    assert descend(room, c, w, g, lam, y2, tolerance, most) == expected_sweeps
    np.testing.assert_allclose(w, expected, atol=1e-6)
    np.testing.assert_array_equal(w == 0, expected == 0)


def test_descend_ends_when_float32_has_no_more_to_give():
    _, _, c, gram, y2 = small_lasso(1)
    w = np.zeros(9)
    assert descend(gram.astype(np.float32), c, w, c.copy(), 0.01, y2, 0.0, 10_000) < 100
    expected, _ = naive_descend(gram, c, np.zeros(9), 0.01, y2, 1e-14, 10_000)
    np.testing.assert_allclose(w, expected, atol=1e-4)


@pytest.mark.parametrize("filled", (0, 3))
def test_descend_and_look_is_descent_and_a_look_at_all_columns(filled):
    masks = np.random.default_rng(5).random((80, 30)) < 0.5
    z, matrix = standardised(masks), naive_gram(masks)
    y = z[:, :4] @ np.array([1.0, -0.5, 0.3, 0.2]) + np.random.default_rng(6).standard_normal(80)
    y -= y.mean()
    c, y2, features = z.T @ y / 80, y @ y / 80, np.array([2, 9, 0, 1, 17, 3])
    lam, w = 0.2 * np.abs(c).max(), np.zeros(6)
    gram = made(masks, 80)
    gram.require(features)
    local = np.full((8, 8), np.nan, np.float32)
    local[:filled, :filled] = matrix[np.ix_(features[:filled], features[:filled])]
    sweeps, g, gap = descend_and_look(
        gram.view, local, filled, features, np.argsort(features), w, c, c, lam, y2, 1e-9, 50
    )
    expected, expected_sweeps = naive_descend(
        matrix[np.ix_(features, features)], c[features], np.zeros(6), lam, y2, 1e-9, 50
    )
    assert sweeps == expected_sweeps
    np.testing.assert_allclose(w, expected, atol=1e-6)
    np.testing.assert_allclose(g, c - matrix[:, features] @ w, atol=1e-12)
    whole = np.zeros(30)
    whole[features] = w
    assert gap == pytest.approx(naive_duality_gap(z, y, whole, lam), rel=1e-9)


def test_descend_on_no_columns():
    nothing = np.zeros(0)
    assert descend(np.zeros((0, 0), np.float32), nothing, nothing, nothing, 0.1, 1.0, 0.0, 100) == 0


SHAPES = [(1, 1), (7, 9), (8, 8), (9, 7), (63, 64), (64, 65), (65, 3), (511, 10), (512, 17), (513, 1), (1100, 13)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("first_word", (0, 3))
def test_transpose_bits_equals_its_naive_twin(shape, first_word):
    n, d = shape
    bits = np.packbits(random_masks(n, d), axis=1)
    expected = naive_transpose_bits(bits, d)
    words = np.zeros((d, first_word + expected.shape[1] + 2), np.uint64)
    transpose_bits(bits, words, first_word)
    np.testing.assert_array_equal(words[:, first_word:-2], expected)
    assert not words[:, :first_word].any()
    assert not words[:, -2:].any()


@pytest.mark.parametrize(("d", "first", "last"), [(1, 0, 64), (9, 64, 192), (5, 0, 0)])
def test_count_ones_equals_its_naive_twin(d, first, last):
    words, counts = random_words((d, last + 3), d), np.full(d, -1)
    count_ones(words, first, last, counts)
    np.testing.assert_array_equal(counts, unpack_words(words[:, first:last]).sum(axis=1))


@pytest.mark.parametrize(("d", "width", "first", "used"), [(1, 1, 0, 1), (7, 3, 2, 4), (12, 20, 1, 0)])
def test_add_columns_equals_its_naive_twin(d, width, first, used):
    rng = np.random.default_rng(4)
    words, out = random_words((d, first + width + 2), 5), rng.standard_normal(64 * width)
    features, weights = rng.permutation(d)[:used], rng.standard_normal(used)
    expected = naive_add_columns(words, features, first, weights, out)
    add_columns(words, features, first, weights, out)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)
