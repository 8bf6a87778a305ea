"""Counts of common ones and sums of margins by tables, against plain numpy on unpacked bits."""

import numpy as np
import pytest
from naive_lasso import naive_count_common, random_words, unpack_words
from numba.core.errors import TypingError

from datamodels_inf.kernels import STEP, margin_sums
from datamodels_inf.kernels import pair_counts as common_counts
from datamodels_inf.kernels.coordinate_descent import count_ones
from datamodels_inf.kernels.margin_sums import TARGETS, add_steps
from datamodels_inf.kernels.pair_counts import LANES, ROUNDS, WORTH, count_common
from datamodels_inf.kernels.subset_tables import COPIED, tabulate, widths_of_word


def counted(words, features, which, first, last):
    counts = np.full((len(features), len(which)), -1, np.int32)
    count_common(words, np.asarray(features), np.asarray(which), first, last, counts)
    return counts


@pytest.mark.parametrize("used", (0, 1, 16, 17, WORTH - 1, WORTH, LANES - 1, LANES, LANES + 1, LANES + WORTH, 300))
@pytest.mark.parametrize(("first", "last"), [(0, 64), (64, 192), (3, 67)])
def test_counts_equal_their_naive_twin(used, first, last):
    """One by one, by tables with empty lanes and by full tables; a feature may be among the others."""
    rng = np.random.default_rng(used)
    words = random_words((320, last + 2), used)
    features, which = rng.permutation(320)[:used], rng.permutation(320)[:77]
    counts = counted(words, features, which, first, last)
    np.testing.assert_array_equal(counts, naive_count_common(words[features, first:last], words, which, first))


@pytest.mark.parametrize("used", (1, LANES, 2 * LANES))
@pytest.mark.parametrize("n_words", (64, ROUNDS * COPIED // 64 * 64, ROUNDS * COPIED // 64 * 64 + 64, 64 * 67))
def test_every_one_is_counted(used, n_words):
    """Ones everywhere: the largest number in every half byte, byte and 16 bits. One at each place, and none."""
    words = np.zeros((used + 3, n_words), np.uint64)
    words[:used] = words[-1] = 2**64 - 1
    words[-3, ::7] = 1 << 63
    features, which = np.arange(used), np.array([used, used + 1, used + 2])
    expected = [64 * n_words if k == used + 2 else (-(-n_words // 7) if k == used else 0) for k in which]
    np.testing.assert_array_equal(counted(words, features, which, 0, n_words), [expected] * used)


@pytest.mark.parametrize("used", (1, LANES))
def test_each_bit_counts_once(used):
    """A column with a single one, at each place of two words in turn."""
    words = np.zeros((used + 128, 64), np.uint64)
    words[:used] = 2**64 - 1
    for place in range(128):
        words[used + place, 8 + place // 64] = np.uint64(1) << np.uint64(place % 64)
    assert (counted(words, np.arange(used), np.arange(used, used + 128), 0, 64) == 1).all()


@pytest.mark.parametrize(("width", "widths"), [(5, 12 * (5,) + (4,)), (6, 10 * (6,) + (4,)), (8, 8 * (8,))])
def test_widths_of_a_word(width, widths):
    assert widths_of_word(width) == widths


@pytest.mark.parametrize(("kind", "length"), [(np.uint8, 64), (np.int64, 8), (np.int64, 16)])
def test_tables_hold_the_sums_of_all_subsets(kind, length):
    widths = (3, 1, 4)
    summands = np.random.default_rng(0).integers(0, 9, (8, length)).astype(kind)
    tables = np.full((8 + 2 + 16, length), 77, kind)
    tabulate(summands, widths, tables)
    line = row = 0
    for width in widths:
        for e in range(2**width):
            inside = [row + b for b in range(width) if e >> b & 1]
            np.testing.assert_array_equal(tables[line + e], summands[inside].sum(axis=0))
        line, row = line + 2**width, row + width


@pytest.mark.parametrize(("d", "width", "first"), [(1, 8, 0), (7, 16, 2), (40, 64, 1), (3, 0, 0)])
def test_add_steps_equals_its_naive_twin(d, width, first):
    words = random_words((d, first + width + 1), 8)
    rng = np.random.default_rng(9)
    steps, totals = rng.integers(0, 2**32, (64 * width, TARGETS)), rng.integers(0, 99, (d, TARGETS))
    expected = totals + unpack_words(words[:, first : first + width]).astype(np.int64) @ steps
    add_steps(words, first, steps, totals)
    np.testing.assert_array_equal(totals, expected)


def test_largest_steps_do_not_overflow():
    """300,000 models of the largest step, 2³² − 1, in every row."""
    words = np.full((2, 4688), 2**64 - 1, np.uint64)
    totals = np.zeros((2, TARGETS), np.int64)
    add_steps(words, 0, np.full((64 * 4688, TARGETS), 2**32 - 1), totals)
    assert (totals == 64 * 4688 * (2**32 - 1)).all()


def test_groups_fit_their_halves_and_words():
    """What the sums rely on: a byte holds the models of WORDS words, 16 bits those of ROUNDS rounds."""
    assert sum(common_counts.WIDTHS) == 64 * common_counts.WORDS <= 255
    assert max(common_counts.WIDTHS) <= common_counts.HALF
    assert ROUNDS * COPIED * 64 < 2**16
    assert COPIED % common_counts.WORDS == 0
    assert sum(margin_sums.WIDTHS) == 64
    assert STEP % COPIED == 0


def test_other_types_and_strides_are_refused():
    """The look-up reads memory as it lies; it must not be compiled for arrays that lie otherwise."""
    words, totals = random_words((3, 8)), np.zeros((3, TARGETS), np.int64)
    for steps in (np.zeros((512, TARGETS), np.int32), np.zeros((512, TARGETS), np.int64, order="F")):
        with pytest.raises(TypingError, match=r"a contiguous array of .* is wanted"):
            add_steps(words, 0, steps, totals)
    with pytest.raises(TypingError, match=r"a contiguous array of .* is wanted"):
        add_steps(words, 0, np.zeros((512, TARGETS), np.int64), totals.astype(np.float64))
    for other in (words.view(np.int64), np.asfortranarray(words)):
        with pytest.raises(TypingError, match="a contiguous array of uint64 is wanted"):
            count_ones(other, 0, 8, np.zeros(3, np.int64))
