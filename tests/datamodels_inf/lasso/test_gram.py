"""Rows of the Gram matrix, entry by entry, against numpy on the unpacked masks; also beyond int16."""

import numpy as np
import pytest
from gram_checks import check, made, odd_masks

from datamodels_inf.lasso.columns import ColumnBits
from datamodels_inf.lasso.gram import TooManyRowsError


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize(
    ("n", "d", "split"), [(65, 9, 64), (200, 17, 200), (333, 30, 250), (30, 70, 20), (150, 600, 100)]
)
def test_every_entry_on_training_rows_and_on_all(n, d, split, threads):
    masks = odd_masks(n, d)
    gram = made(masks, split, threads=threads)
    check(gram, masks[:split])
    assert gram.counted == d
    gram.take(2)
    check(gram, masks)
    assert gram.counted == d  # Completed, not counted anew.


@pytest.mark.parametrize("before", (0, 1, 300, 599))
def test_rows_asked_for_before_and_after_all_rows_are_taken(before):
    """Rows that are read from others by symmetry are right whatever those counted when they were made."""
    masks = odd_masks(150, 600, 1)
    order = np.random.default_rng(2).permutation(600)
    gram = made(masks, 100)
    check(gram, masks[:100], order[:before])
    gram.take(2)
    assert not gram.has(order[:before]) or before == 0
    gram.require(order[before // 2 :])
    check(gram, masks, order[before // 2 :])
    check(gram, masks, order)


@pytest.mark.parametrize("capacity", (1, 3, 7))
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_were_pushed_out_come_back_right(capacity, seed):
    masks = odd_masks(140, 25, seed)
    gram, rng = made(masks, 90, capacity=capacity), np.random.default_rng(seed)
    for now in (masks[:90], masks):
        for _ in range(25):
            check(gram, now, rng.permutation(25)[: rng.integers(1, capacity + 1)])
        if now is not masks:
            gram.take(2)
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
        gram.take(2)
    count, calls = ColumnBits.count_common, []

    def interrupted(self, features, which, part, use, told):
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


# --- many parts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("capacity", (5, 40, 10**6))
def test_rows_that_are_one_or_several_parts_behind(capacity, threads):
    """Some rows are asked for at each level, others at few of them; also a level that is left out."""
    masks, ends = odd_masks(400, 40, 4), (100, 120, 121, 250, 400)
    gram, rng = made(masks, *ends[:-1], capacity=capacity, threads=threads), np.random.default_rng(5)
    for level, end in enumerate(ends, 1):
        if level != 3:
            gram.take(level)
            check(gram, masks[:end], rng.permutation(40)[:17])
    check(gram, masks)


def test_no_row_is_counted_twice_over_the_same_masks(monkeypatch):
    """Each row of the matrix counts each word of the masks once, whenever it is asked for."""
    seen, count = np.zeros((300, 64 * 40), int), ColumnBits.count_common

    def noted(self, features, which, part, use, told):
        seen[features, part.words] += 1
        count(self, features, which, part, use, told)

    monkeypatch.setattr(ColumnBits, "count_common", noted)
    masks, rng = odd_masks(900, 300, 6), np.random.default_rng(7)
    gram = made(masks, 200, 260, 500)
    for level in (1, 2, 3, 4):
        gram.take(level)
        for _ in range(3):
            gram.require(np.sort(rng.permutation(300)[:100]))
    check(gram, masks)
    words = gram.columns.words.shape[1]
    assert (seen[:, :words] == 1).all()
    assert gram.counted == 300


def test_there_is_no_way_back():
    gram = made(odd_masks(90, 12), 50, 60)
    gram.take(2)
    with pytest.raises(ValueError, match="counts 2 parts of the rows already, not 1"):
        gram.take(1)


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
    gram = made(large, split, capacity=capacity)
    check(gram, large[:split])
    gram.take(2)
    check(gram, large)
    check(gram, large, [12, 4, 0, 9, 2])


def test_counts_beyond_int16_in_rows_first_asked_for_after_all_rows_are_taken(large):
    gram = made(large, 131_500)
    check(gram, large[:131_500], [0, 9])
    gram.take(2)
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
    gram = made(masks, split, capacity=capacity)
    check(gram, masks[:split])
    gram.take(2)
    check(gram, masks)


@pytest.mark.parametrize("ends", [(50_000, 131_500), (131_500, 135_000), (20_000, 131_068, 131_069, 139_000)])
def test_counts_beyond_int16_in_many_parts(large, ends):
    gram = made(large, *ends)
    for level, end in enumerate((*ends, LARGE), 1):
        gram.take(level)
        check(gram, large[:end], [0, 9, 10, level])
    check(gram, large)


def test_counts_cut_off_in_the_training_rows_alone():
    """Rates that are far apart at first and all near ½ in the end, where nothing can lie beyond int16."""
    rng = np.random.default_rng(3)
    rate = np.array([0.98, 0.98] + 12 * [0.03])
    masks = np.concatenate([rng.random((60_000, 14)) < rate, rng.random((60_000, 14)) < 1 - rate])
    masks[:60_000, 1] = masks[:60_000, 0]
    gram = made(masks, 60_000)
    check(gram, masks[:60_000])
    assert gram._beyond
    gram.take(2)
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
    gram.take(2)
    check(gram, masks)


@pytest.mark.parametrize(
    ("capacity", "before"), [(600, 0), (600, 300), (600, 600), (300, 0), (300, 300), (450, 450)], ids=str
)
def test_the_work_of_sets_is_foreseen(capacity, before):
    """To a third of what it turns out to be, as a share of a row with each piece."""
    rng = np.random.default_rng(4)
    gram = made(rng.random((150, 600)) < 0.5, 100, capacity=capacity)
    gram.require(np.arange(before))
    gram.take(2)
    sets = [np.sort(rng.permutation(600)[:200]) for _ in range(6)]
    foreseen, told = gram.work_of(sets), []
    for features in sets:
        gram.require(features, told.append)
    assert foreseen == pytest.approx(sum(told), rel=1 / 3)
    assert gram.work_of(sets[-1:]) == 0.0


def test_rows_that_are_released_are_the_oldest_that_are_not_needed_and_come_back_right():
    masks = odd_masks(150, 600, 5)
    gram = made(masks, 100)
    for features in (np.arange(300, 600), np.arange(300), np.arange(500, 520)):
        gram.require(features)
    keep = np.arange(310, 330)
    gram.release(2 * 600 * 340, keep)
    assert gram.has(np.concatenate([keep, np.arange(300), np.arange(500, 520)]))
    assert not any(gram.has(np.array([k])) for k in (*range(300, 310), *range(330, 500), *range(520, 600)))
    gram.release(0, keep)
    assert sum(gram.has(np.array([k])) for k in range(600)) == keep.size
    gram.release(np.inf, keep)
    gram.take(2)
    check(gram, masks)
