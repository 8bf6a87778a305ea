"""Average ranks are those of scipy.stats."""

import numpy as np
import pytest
from scipy.stats import rankdata

from datamodels_inf.internal.ranks import average_ranks


@pytest.mark.parametrize("shape", [0, 1, 50, (0, 3), (1, 2), (200, 3)])
@pytest.mark.parametrize("kinds", [1, 3, 10**9])
def test_agrees_with_scipy(shape, kinds):
    values = np.random.default_rng(0).integers(kinds, size=shape).astype(np.float64)
    values[values == 0] *= -1.0  # −0 and 0 are tied.
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=0))
