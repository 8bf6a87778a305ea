"""The compiled loops on rows of the Gram matrix against numpy."""

import numpy as np
import pytest
from gram_checks import made, odd_masks
from naive_lasso import naive_add_rows, naive_gram

from datamodels_inf.kernels.gram_rows import Rows, add_rows, add_to_rows, correlate, fill_gram, mirror_rows, set_rows
from datamodels_inf.lasso.gram import MOST


@pytest.mark.parametrize(("d", "used"), [(1, 1), (13, 5), (1025, 3), (2100, 40), (9, 0)])
def test_add_rows_equals_its_naive_twin(d, used):
    rng = np.random.default_rng(d)
    rows = rng.integers(-MOST, MOST + 1, (used + 3, d)).astype(np.int16)
    slots, u = rng.permutation(used + 3)[:used], rng.standard_normal(used)
    out = rng.standard_normal(d)
    expected = naive_add_rows(rows, slots, u, out)
    add_rows(rows, slots, u, out)
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-8)


def test_set_rows_and_add_to_rows_cut_off():
    """What is cut off stays so, whatever is added."""
    rng = np.random.default_rng(0)
    base, moved = rng.integers(0, 900, (2, 40))
    features, which, slots = rng.permutation(40)[:17], rng.permutation(40)[:25], rng.permutation(30)[:17]
    counts, more = rng.integers(-1500, 3000, (2, 17, 25)).astype(np.int32)
    rows, most = np.full((30, 40), -7, np.int16), 1000
    set_rows(counts, features, which, base, rows, slots, most)
    expected = np.full((30, 40), -7)
    first = np.clip(counts - base[which] - base[features, None], -most, most)
    expected[slots[:, None], which] = first
    np.testing.assert_array_equal(rows, expected)
    assert (np.abs(first) == most).any()
    add_to_rows(more, features, which, moved, rows, slots, most)
    second = np.clip(first + more + moved[which] + moved[features, None], -most, most)
    expected[slots[:, None], which] = np.where(np.abs(first) == most, first, second)
    np.testing.assert_array_equal(rows, expected)


def test_mirror_rows_reads_the_other_half_of_a_symmetric_matrix():
    rng = np.random.default_rng(10)
    rows = rng.integers(-99, 99, (90, 200)).astype(np.int16)
    slots, known_slots = np.split(rng.permutation(90), [40])
    features, known = np.split(rng.permutation(200)[:90], [40])
    expected = rows.copy()
    expected[slots[:, None], known] = rows[known_slots[:, None], features].T
    mirror_rows(rows, known_slots, known, slots, features)
    np.testing.assert_array_equal(rows, expected)


def random_rows(d=110, seed=0):
    """(rows, the matrix they stand for): each has some of its entries beyond, on the diagonal and elsewhere."""
    rng = np.random.default_rng(seed)
    n, (sums, base), scale = 999.0, rng.integers(1, 1000, (2, d)).astype(float), rng.random(d)
    kept = rng.integers(-MOST, MOST + 1, (d, d))
    kept = np.tril(kept) + np.tril(kept, -1).T
    slot, excess = rng.permutation(d), rng.integers(0, 2000, d).astype(float)
    pairs = rng.permutation(d)[:12].reshape(6, 2)
    row_beyond, column_beyond = np.concatenate([pairs, pairs[:, ::-1]]).T.copy()
    excess_beyond = np.tile(rng.integers(1, 9999, 6), 2).astype(float)
    counts = kept + base[:, None] + base + np.diag(excess)
    counts[row_beyond, column_beyond] += excess_beyond
    matrix = (counts - np.outer(sums, sums) / n) * np.outer(scale, scale)
    rows = np.empty((d, d), np.int16)
    rows[slot] = kept
    return Rows(rows, slot, n, sums, base, scale, excess, row_beyond, column_beyond, excess_beyond), matrix


@pytest.mark.parametrize("used", (0, 1, 30, 110))
def test_correlate_equals_numpy(used):
    gram, matrix = random_rows()
    rng = np.random.default_rng(used)
    features, c = rng.permutation(110)[:used], rng.standard_normal(110)
    w = rng.standard_normal(used) * (rng.random(used) < 0.7)
    np.testing.assert_allclose(correlate(gram, c, features, w), c - matrix[:, features] @ w, rtol=1e-11, atol=1e-6)


@pytest.mark.parametrize(
    ("first", "size"), ((0, 0), (0, 1), (0, 100), (31, 32), (32, 97), (50, 104), (70, 71), (90, 90))
)
def test_fill_gram_equals_numpy(first, size):
    """What is there already, and the room for more, is not touched; the diagonal of standardised columns is 1."""
    gram, matrix = random_rows()
    rng = np.random.default_rng(size)
    features = np.concatenate(
        [rng.permutation(gram.row_beyond), rng.permutation(np.setdiff1d(range(110), gram.row_beyond))]
    )
    features = np.roll(features, first - 4)[:size]  # Four of the columns with an excess before `first`, eight after it.
    room = np.random.default_rng(0).standard_normal((104, 104)).astype(np.float32)
    expected = room.copy()
    part = matrix[np.ix_(features, features)]
    np.fill_diagonal(part, 1.0)
    expected[first:size, :size], expected[:size, first:size] = part[first:], part[:, first:]
    fill_gram(gram, features, np.argsort(features), first, room)
    np.testing.assert_allclose(room, expected, rtol=1e-6)


def test_fill_adds_to_what_is_there():
    masks = odd_masks(120, 40, 4)
    expected, features = naive_gram(masks), np.random.default_rng(0).permutation(np.setdiff1d(np.arange(40), [5, 6]))
    gram = made(masks, 120)
    gram.require(features)
    at_once = np.zeros((38, 38), np.float32)
    fill_gram(gram.view, features, np.argsort(features), 0, at_once)
    little = np.full((38, 38), np.nan, np.float32)
    for first, m in ((0, 1), (1, 2), (2, 20), (20, 38)):
        fill_gram(gram.view, features[:m], np.argsort(features[:m]), first, little)
        np.testing.assert_allclose(little[:m, :m], expected[np.ix_(features[:m], features[:m])], rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(little, at_once)
    np.testing.assert_array_equal(little, little.T)


def test_fill_of_more_than_one_block():
    masks = np.random.default_rng(5).random((90, 600)) < 0.5
    gram = made(masks, 90)
    gram.require(np.arange(600))
    filled = np.full((600, 600), np.nan, np.float32)
    fill_gram(gram.view, np.arange(301), np.arange(301), 0, filled)
    fill_gram(gram.view, np.arange(600), np.arange(600), 301, filled)
    np.testing.assert_allclose(filled, naive_gram(masks), rtol=1e-6, atol=1e-8)
