"""Sums along the columns and rows of packed masks against matrix products of whole numbers."""

import numpy as np
import pytest

from datamodels_inf.kernels.bit_sums import add_columns, add_rows


@pytest.mark.parametrize("n", (1, 7, 8, 9, 100))
@pytest.mark.parametrize("d", (1, 8, 13, 64, 700))
def test_equal_to_products(n, d):
    rng = np.random.default_rng(n * d)
    masks = rng.random((n, d)) < 0.4
    bits, whole = np.packbits(masks, axis=1), masks.astype(np.int64)
    values, weights = rng.integers(-(2**50), 2**50, n), rng.integers(-(2**50), 2**50, d)
    columns, rows = np.ones(d, np.int64), np.ones(n, np.int64)  # Both add to what is there.
    add_columns(bits, 0, bits.shape[1], values, columns)
    add_rows(bits, weights, rows)
    assert np.array_equal(columns, 1 + whole.T @ values)
    assert np.array_equal(rows, 1 + whole @ weights)
