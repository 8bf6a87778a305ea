"""Counts of common ones, one by one and by tables, against plain numpy on unpacked bits."""

import numpy as np
import pytest
from naive_lasso import naive_count_common, random_words

from datamodels_inf.kernels import STEP, margin_sums, pair_counts
from datamodels_inf.kernels.pair_counts import LANES, ROUNDS, WORTH, count_common
from datamodels_inf.kernels.subset_tables import COPIED


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


def test_groups_fit_their_halves_and_words():
    """What the sums rely on: a byte holds the models of WORDS words, 16 bits those of ROUNDS rounds."""
    assert sum(pair_counts.WIDTHS) == 64 * pair_counts.WORDS <= 255
    assert max(pair_counts.WIDTHS) <= pair_counts.HALF
    assert ROUNDS * COPIED * 64 < 2**16
    assert COPIED % pair_counts.WORDS == 0
    assert sum(margin_sums.WIDTHS) == 64
    assert STEP % COPIED == 0
