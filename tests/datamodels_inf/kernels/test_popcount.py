"""Bits of words by the processor's instructions, against Python's whole numbers and plain numpy."""

import numpy as np
import pytest
from naive_lasso import random_words, unpack_words
from numba import njit
from numba.core.errors import TypingError

from datamodels_inf.kernels import STEP
from datamodels_inf.kernels.popcount import common_ones, lowest_one, ones


@njit
def of_each(words, counts, lowest):
    for k in range(words.size):
        counts[k] = ones(words[k])
        lowest[k] = lowest_one(words[k])


@njit
def in_common(a, b):
    return common_ones(a, b)


def test_ones_and_the_lowest_one_of_a_word():
    """Single bits at every place, all bits, the sign bit alone, and words at random."""
    singles = [1 << place for place in range(64)]
    words = np.array([*singles, 2**64 - 1, 3 << 62, *random_words(200).tolist()], np.uint64)
    counts, lowest = np.empty((2, words.size), np.int64)
    of_each(words, counts, lowest)
    assert counts.tolist() == [word.bit_count() for word in words.tolist()]
    assert lowest.tolist() == [(word & -word).bit_length() - 1 for word in words.tolist()]


@pytest.mark.parametrize("steps", (0, 1, 2, 3, 31))
def test_common_ones_equal_those_of_unpacked_bits(steps):
    a, b = random_words((2, STEP * steps), steps)
    assert in_common(a, b) == (unpack_words(a) & unpack_words(b)).sum()


def test_common_ones_of_words_that_are_full_or_hold_one_bit():
    """The carries reach every level; each bit of each word counts once."""
    full = np.full(4 * STEP, 2**64 - 1, np.uint64)
    assert in_common(full, full) == 64 * full.size
    for place in range(0, full.size, 7):
        single = np.zeros_like(full)
        single[place] = np.uint64(1) << np.uint64(place % 64)
        assert in_common(single, full) == in_common(full, single) == 1


def test_other_arrays_are_refused():
    words = random_words(STEP)
    for other in (words.view(np.int64), random_words(2 * STEP)[::2]):
        with pytest.raises(TypingError, match="a contiguous array of uint64 is wanted"):
            in_common(words, other)
