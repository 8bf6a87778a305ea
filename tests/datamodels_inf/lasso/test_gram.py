"""Rows of the Gram matrix, entry by entry, against numpy on the unpacked masks."""

import numpy as np
import pytest
from naive_lasso import naive_add_rows, naive_descend, naive_duality_gap, naive_gram, standardised

from datamodels_inf import PackedMasks
from datamodels_inf.kernels.coordinate_descent import descend, descend_and_look, duality_gap, steep_columns
from datamodels_inf.kernels.gram_rows import Rows, add_rows, add_to_rows, correlate, fill_gram, mirror_rows, set_rows
from datamodels_inf.lasso.columns import ColumnBits
from datamodels_inf.lasso.gram import MOST, Gram, TooManyRowsError

# --- the compiled loops --------------------------------------------------------------------------------------------


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
    fill_gram(gram, features, first, room)
    np.testing.assert_allclose(room, expected, rtol=1e-6)


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
    sweeps, g, gap = descend_and_look(gram.view, local, filled, features, w, c, c, lam, y2, 1e-9, 50)
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


# --- the matrix ----------------------------------------------------------------------------------------------------


def odd_masks(n, d, seed=0):
    """Columns of all kinds: equal, complementary, nearly so, full, empty, rare; the others at random."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    masks[:, 1], masks[:, 2] = masks[:, 0], ~masks[:, 0]
    masks[:, 3], masks[:, 4] = masks[:, 0] ^ (rng.random(n) < 0.01), ~masks[:, 0] ^ (rng.random(n) < 0.01)
    masks[:, 5], masks[:, 6] = True, False
    masks[:, 7], masks[:, 8] = rng.random(n) < 0.02, rng.random(n) < 0.97
    return masks


def made(masks, split, capacity=10**6, threads=1):
    return Gram(ColumnBits(PackedMasks.from_bool(masks), split, threads), capacity)


def column(gram, k, w=1.0):
    """A column of the matrix as `correlate` gives it."""
    gram.require(np.array([k]))
    return gram.correlate(np.zeros(gram.columns.n_columns), np.array([k]), np.array([w])) / -w


def check(gram, masks, features=None, atol=1e-11):
    """Every entry of the rows `features`, one at a time and together, against numpy."""
    expected = naive_gram(masks)
    features = np.arange(masks.shape[1]) if features is None else np.asarray(features)
    for start in range(0, features.size, gram.capacity):
        some = features[start : start + gram.capacity]
        gram.require(some)
        assert gram.has(some)
        for k in some:
            np.testing.assert_allclose(column(gram, k), expected[k], atol=atol)
        w, c = np.random.default_rng(1).standard_normal(some.size), np.linspace(-1, 1, masks.shape[1])
        np.testing.assert_allclose(gram.correlate(c, some, w), c - expected[:, some] @ w, atol=10 * atol)
        varies = some[expected[some, some] > 0]
        filled = np.full((varies.size + 3,) * 2, np.nan, np.float32)
        fill_gram(gram.view, varies, 0, filled)
        np.testing.assert_allclose(filled[:-3, :-3], expected[np.ix_(varies, varies)], rtol=1e-6, atol=1e-8)
        assert np.isnan(filled[-3:]).all()
        assert np.isnan(filled[:, -3:]).all()


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize(
    ("n", "d", "split"), [(65, 9, 64), (200, 17, 200), (333, 30, 250), (30, 70, 20), (150, 600, 100)]
)
def test_every_entry_on_training_rows_and_on_all(n, d, split, threads):
    masks = odd_masks(n, d)
    gram = made(masks, split, threads=threads)
    check(gram, masks[:split])
    assert gram.counted == d
    gram.take_all_rows()
    check(gram, masks)
    assert gram.counted == d  # Completed, not counted anew.


@pytest.mark.parametrize("before", (0, 1, 300, 599))
def test_rows_asked_for_before_and_after_all_rows_are_taken(before):
    """Rows that are read from others by symmetry are right whatever those counted when they were made."""
    masks = odd_masks(150, 600, 1)
    order = np.random.default_rng(2).permutation(600)
    gram = made(masks, 100)
    check(gram, masks[:100], order[:before])
    gram.take_all_rows()
    assert not gram.has(order[:before]) or before == 0
    gram.require(order[before // 2 :])
    check(gram, masks, order[before // 2 :])
    check(gram, masks, order)


@pytest.mark.parametrize("capacity", (1, 3, 7))
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_were_pushed_out_come_back_right(capacity, seed):
    masks = odd_masks(140, 25, seed)
    gram, rng = made(masks, 90, capacity), np.random.default_rng(seed)
    for now in (masks[:90], masks):
        for _ in range(25):
            check(gram, now, rng.permutation(25)[: rng.integers(1, capacity + 1)])
        if now is not masks:
            gram.take_all_rows()
    assert gram.counted > 25


def test_the_rows_asked_for_the_longest_time_ago_go_first():
    gram = made(odd_masks(80, 20), 60, capacity=4)
    for features in ([0, 1, 2, 3], [0, 3], [9]):
        gram.require(np.array(features))
    assert gram.has(np.array([0, 3, 9]))
    assert gram.has(np.array([1])) != gram.has(np.array([2]))
    assert gram.counted == 5


def test_a_block_asked_for_at_once_does_not_push_out_itself():
    """More rows than are counted in one go, as many as fit."""
    masks = odd_masks(70, 700, 3)
    gram = made(masks, 50, capacity=520)
    gram.require(np.arange(0, 200))
    gram.require(np.arange(180, 700))
    assert gram.has(np.arange(180, 700))
    check(gram, masks[:50], np.arange(180, 700)[::7])


def test_more_rows_than_fit():
    gram = made(odd_masks(80, 20), 60, capacity=4)
    with pytest.raises(TooManyRowsError, match="5 rows of the Gram matrix are needed at a time, 4 are kept"):
        gram.require(np.arange(5))


@pytest.mark.parametrize("complete", (False, True))
def test_rows_are_right_after_an_interrupt(complete, monkeypatch):
    """Rows that were being counted, or completed by the validation rows, when Ctrl-C came are made anew."""
    masks = odd_masks(150, 600, 1)
    gram = made(masks, 100, threads=2)
    if complete:
        gram.require(np.arange(600))
        gram.take_all_rows()
    count, calls = ColumnBits.count_common, []

    def interrupted(self, features, which, part, use):
        calls.append(features)
        count(self, features, which[: len(which) // 2], part, use)
        if len(calls) == 2:
            raise KeyboardInterrupt
        count(self, features, which[len(which) // 2 :], part, use)

    monkeypatch.setattr(ColumnBits, "count_common", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gram.require(np.arange(600))
    check(gram, masks if complete else masks[:100])
    assert len(calls) > 2


def test_fill_adds_to_what_is_there():
    masks = odd_masks(120, 40, 4)
    expected, features = naive_gram(masks), np.random.default_rng(0).permutation(np.setdiff1d(np.arange(40), [5, 6]))
    gram = made(masks, 120)
    gram.require(features)
    at_once = np.zeros((38, 38), np.float32)
    fill_gram(gram.view, features, 0, at_once)
    little = np.full((38, 38), np.nan, np.float32)
    for first, m in ((0, 1), (1, 2), (2, 20), (20, 38)):
        fill_gram(gram.view, features[:m], first, little)
        np.testing.assert_allclose(little[:m, :m], expected[np.ix_(features[:m], features[:m])], rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(little, at_once)
    np.testing.assert_array_equal(little, little.T)


def test_fill_of_more_than_one_block():
    masks = np.random.default_rng(5).random((90, 600)) < 0.5
    gram = made(masks, 90)
    gram.require(np.arange(600))
    filled = np.full((600, 600), np.nan, np.float32)
    fill_gram(gram.view, np.arange(301), 0, filled)
    fill_gram(gram.view, np.arange(600), 301, filled)
    np.testing.assert_allclose(filled, naive_gram(masks), rtol=1e-6, atol=1e-8)


# --- beyond int16 --------------------------------------------------------------------------------------------------

LARGE = 140_000


@pytest.fixture(scope="module")
def large():
    """Column 9 equals column 0 in the first 131,500 rows and is opposite in the others; column 10 the reverse."""
    masks = odd_masks(LARGE, 13, 7)
    masks[:, 9] = masks[:, 0] ^ (np.arange(LARGE) >= 131_500)
    masks[:, 10] = masks[:, 0] ^ (np.arange(LARGE) < 131_500)
    return masks


@pytest.mark.parametrize("split", (100_003, 131_068, 131_500, 139_000, LARGE))
@pytest.mark.parametrize("capacity", (13, 5))
def test_counts_beyond_int16(large, split, capacity):
    """Diagonal, equal and complementary columns are cut off at ±32,767 and the rest kept aside: nothing is lost."""
    gram = made(large, split, capacity)
    check(gram, large[:split])
    gram.take_all_rows()
    check(gram, large)
    check(gram, large, [12, 4, 0, 9, 2])


def test_counts_beyond_int16_in_rows_first_asked_for_after_all_rows_are_taken(large):
    gram = made(large, 131_500)
    check(gram, large[:131_500], [0, 9])
    gram.take_all_rows()
    check(gram, large, [1, 2, 10])
    check(gram, large)


@pytest.mark.parametrize(("n", "split"), [(90_000, 50_003), (120_000, 60_000), (120_001, 110_000), (140_000, 80_000)])
@pytest.mark.parametrize("capacity", (11, 4))
def test_counts_beyond_int16_where_columns_are_frequent_or_rare(n, split, capacity):
    """Rates that differ between columns, and between the two parts: what was cut off may come back within bounds."""
    rng = np.random.default_rng(n)
    rate = np.array([0.98, 0.97, 0.05, 0.04, 0.03, 0.02, 0.05, 0.06, 0.02, 0.03, 0.5])
    masks = rng.random((n, 11)) < rate
    masks[split:] = rng.random((n - split, 11)) < np.where(np.arange(11) < 2, 0.6, 0.97)
    masks[:, 1] = masks[:, 0]
    masks[:, 3] = ~masks[:, 0]
    gram = made(masks, split, capacity)
    check(gram, masks[:split])
    gram.take_all_rows()
    check(gram, masks)


def test_counts_cut_off_in_the_training_rows_alone():
    """Rates that are far apart at first and all near ½ in the end, where nothing can lie beyond int16."""
    rng = np.random.default_rng(3)
    rate = np.array([0.98, 0.98] + 12 * [0.03])
    masks = np.concatenate([rng.random((60_000, 14)) < rate, rng.random((60_000, 14)) < 1 - rate])
    masks[:60_000, 1] = masks[:60_000, 0]
    gram = made(masks, 60_000)
    check(gram, masks[:60_000])
    assert gram._beyond
    gram.take_all_rows()
    check(gram, masks)


@pytest.mark.parametrize("split", (131_065, 131_066, 131_067))
def test_a_count_of_just_32767_is_not_taken_for_one_that_was_cut_off(split):
    """At most 131,068 rows: nothing is cut off, but 32,767 occurs, and changes with the rows that come."""
    n = 131_068
    masks = np.zeros((n, 3), bool)
    masks[: n // 2 - 2] = True
    masks[split:, 0], masks[split:, 1] = True, False
    gram = made(masks, split)
    check(gram, masks[:split])
    gram.take_all_rows()
    check(gram, masks)
