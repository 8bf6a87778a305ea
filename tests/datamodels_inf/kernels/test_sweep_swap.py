"""The sweep over pairs against a pass over the rows."""

import numpy as np
import pytest
from swap_samples import SCORES

from datamodels_inf.internal.comparison import Comparison, Sample, halves


@pytest.mark.parametrize("paired", (False, True))
@pytest.mark.parametrize("score", SCORES)
def test_the_sweep_counts_what_a_pass_over_the_rows_counts(score, paired):
    """Hundreds of different θ̂_i − θ̂_j, with ties among the rows that move up, that move down and that stay."""
    rng = np.random.default_rng(11)
    n, d = 700, 300
    x = rng.random((n, d)) < 0.5
    theta = rng.integers(-8, 9, d) / 8.0 + np.where(np.arange(d) % 2, rng.integers(-4, 5, d) / 64, 0.0)
    y = rng.choice([-1.0, 1.0], n) if score == "margin" else x @ theta + rng.integers(-8, 9, n) / 8.0
    pairs = rng.choice(d, (5000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].reshape(-1, 2, 1)
    rows = None if paired else halves(n, "permuted", 3)
    bits, numbers = (
        Comparison(Sample.of(features, y), SCORES[score](theta), halves=rows) for features in (x, x.astype(float))
    )
    swept, passed = (comparison.count_many(pairs, 3, 1) for comparison in (bits, numbers))
    for name in ("wins", "ties", "coins"):
        np.testing.assert_array_equal(getattr(swept, name), getattr(passed, name))
    for p in range(0, len(pairs), 100):
        naive = numbers.count(pairs[p : p + 1], 3)
        assert (swept.wins[p], swept.ties[p], swept.coins[p]) == (naive.wins[0], naive.ties[0], naive.coins[0])
    assert np.unique(bits.score.coefficients(pairs)).size > 100 and len(set(swept.ties)) > 3
