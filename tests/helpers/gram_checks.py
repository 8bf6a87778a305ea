"""Masks with columns of all kinds, and the rows of a Gram matrix held against numpy."""

import numpy as np
from naive_lasso import naive_gram

from datamodels_inf import PackedMasks
from datamodels_inf.kernels.gram_rows import fill_gram
from datamodels_inf.lasso.columns import ColumnBits
from datamodels_inf.lasso.gram import Gram


def odd_masks(n, d, seed=0):
    """Columns of all kinds: equal, complementary, nearly so, full, empty, rare; the others at random."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    masks[:, 1], masks[:, 2] = masks[:, 0], ~masks[:, 0]
    masks[:, 3], masks[:, 4] = masks[:, 0] ^ (rng.random(n) < 0.01), ~masks[:, 0] ^ (rng.random(n) < 0.01)
    masks[:, 5], masks[:, 6] = True, False
    masks[:, 7], masks[:, 8] = rng.random(n) < 0.02, rng.random(n) < 0.97
    return masks


def made(masks, *ends, capacity=10**6, threads=1):
    """In parts that end before the rows `ends`, the last at all rows."""
    return Gram(ColumnBits(PackedMasks.from_bool(masks), (*ends, len(masks)), threads), capacity)


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
        fill_gram(gram.view, varies, np.argsort(varies), 0, filled)
        np.testing.assert_allclose(filled[:-3, :-3], expected[np.ix_(varies, varies)], rtol=1e-6, atol=1e-8)
        assert np.isnan(filled[-3:]).all()
        assert np.isnan(filled[:, -3:]).all()
