"""A square of bits, transposed, against numpy."""

import numpy as np
import pytest

from datamodels_inf.kernels.bit_squares import transposed_square


@pytest.mark.parametrize("rows", range(1, 9))
def test_equal_to_numpy(rows):
    masks = np.random.default_rng(rows).random((20, 24)) < 0.5
    word = int(transposed_square(np.packbits(masks, axis=1), 9, rows, 1))
    for c in range(8):
        column = (word >> (8 * (7 - c))) & 255
        assert [column >> r & 1 for r in range(8)] == [*masks[9 : 9 + rows, 8 + c].astype(int), *[0] * (8 - rows)]
