"""Sums that are kept change no bit of a fit, and are made once."""

import numpy as np
import pytest
from lasso_problems import problem

from datamodels_inf.lasso.columns import ColumnBits
from datamodels_inf.lasso.prefixes import lasso_prefixes

ENDS = (150, 240, 300)


class Memory(dict):
    """A place for sums in memory, of which some may be lost."""

    def put(self, key, sums):
        assert key not in self
        self[key] = sums.copy()


class Forgetful(Memory):
    def get(self, key):
        return None if sum(key) % 2 else super().get(key)

    def put(self, key, sums):
        self[key] = sums.copy()


def fits_of(kept):
    """(the fits of all prefixes, how many sums of a target over a part were made)."""
    masks, margins = problem(0, 300, 40, 5)[:2]
    made, sums_of = [], ColumnBits.weighted_sums
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            ColumnBits, "weighted_sums", lambda self, some, *rest: made.append(len(some)) or sums_of(self, some, *rest)
        )
        found = [fits for fits, _ in lasso_prefixes(masks, margins, ENDS, n_lambdas=20, kept=kept)]
    return found, sum(made)


def test_kept_or_not_the_bits_are_the_same_and_each_sum_is_made_once():
    reference, all_made = fits_of(None)
    for kept, fewest in ((Memory(), 5 * 4), (Forgetful(), 5 * 4 + 1)):
        found, made = fits_of(kept)
        assert fewest <= made < all_made
        for a, b in zip(reference, found, strict=True):
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x.features, y.features)
                np.testing.assert_array_equal(x.weights, y.weights)
                assert (x.bias, x.lam, x.gap) == (y.bias, y.lam, y.gap)
    assert fits_of(Memory())[1] == 5 * 4  # Five targets, four parts: training rows, validation rows, two blocks.


def test_what_nobody_will_ask_for_again_is_not_kept():
    kept = Memory()
    fits_of(kept)
    assert len(kept) == 5 * 3
