"""Masks, margins and weights for contrasts."""

import numpy as np

FIELDS = ("estimate", "low", "high", "pvalue", "statistic", "n_informative")


def arrays(results):
    return np.stack([getattr(results, name) for name in FIELDS])


def case(seed, n, d=9, *, kind="coarse"):
    """Masks, responses, weights: in quarters with ties and zeros everywhere, real, or with huge responses."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, d)) < rng.uniform(0.2, 0.8)
    if kind == "coarse":
        return x, rng.integers(-4, 5, n) / 4, rng.integers(-2, 3, d) / 4
    theta = rng.standard_normal(d) * 10.0 ** rng.integers(-3, 2, d)
    if kind == "huge":  # y − b − f is rounded, and nearly all of it is tied once it is.
        return x, 2.0**48 * np.abs(theta).sum() * rng.choice((-1.0, 1.0), n), theta
    return x, x @ theta + rng.standard_normal(n), theta


def all_pairs(d):
    return np.array([(a, b) for a in range(d) for b in range(d) if a != b])
