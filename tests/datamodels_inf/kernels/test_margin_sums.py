"""Sums of margins by tables, against plain numpy on unpacked bits."""

import numpy as np
import pytest
from naive_lasso import random_words, unpack_words

from datamodels_inf.kernels.margin_sums import TARGETS, add_steps


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
