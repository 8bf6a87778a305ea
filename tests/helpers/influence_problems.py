"""Masks, margins and datamodels with known answers for the influence of single images."""

import numpy as np

from datamodels_inf import Datamodel

LAWS = ("half", "tenth", "most", "coins")


def naive(x, y, theta, bias):
    """The formula, line by line: (Δ̂, SE) of every image."""
    n, d = x.shape
    x, size = x.astype(float), x.sum(axis=1)
    e = y - bias - x @ theta
    e -= e.mean()
    kappa = np.mean(size * (d - size) / d**2)
    g = (x - size[:, None] / d) * e[:, None]
    others = (theta.sum() - theta) / (d - 1)
    return theta - others + g.mean(axis=0) / kappa, g.std(axis=0, ddof=1) / np.sqrt(n) / kappa


def masks_of(law, n, d, rng):
    if law == "coins":
        return rng.random((n, d)) < 0.3
    share = {"half": d // 2, "tenth": d // 10, "most": 3 * d // 4}[law]
    return rng.permuted(np.tile(np.arange(d) < share, (n, 1)), axis=1)


def problem(law, n=333, d=76, targets=37, seed=0):
    rng = np.random.default_rng(seed)
    x = masks_of(law, n, d, rng)
    theta = rng.standard_normal((d, targets)) * (rng.random((d, targets)) < 0.5)
    bias = rng.standard_normal(targets)
    y = (0.5 * x @ theta + rng.standard_normal((n, targets))).astype(np.float16)
    return x, y, Datamodel(theta, bias, np.full(targets, np.nan))


def joined(tiles):
    tiles = list(tiles)
    return np.concatenate([t.estimate for t in tiles]), np.concatenate([t.standard_error for t in tiles]), tiles
