"""Samples with many ties, and the scores and pairs that the tests of all paths take."""

import numpy as np

from datamodels_inf import AbsoluteResidual, SignedMargin, SquaredResidual

SCORES = {
    "squared": lambda theta: SquaredResidual(theta, 0.25),
    "absolute": lambda theta: AbsoluteResidual(theta, -0.5),
    "margin": SignedMargin,
}


def data(kind, seed, n=61, d=12):
    """Features of one kind, and responses and θ coarse enough that there are many ties."""
    rng = np.random.default_rng(seed)
    if kind == "gaussian":
        x, theta = rng.standard_normal((n, d)), rng.standard_normal(d)
        return x, x @ theta + rng.standard_normal(n), theta
    x = rng.random((n, d)) < 0.5
    theta = rng.integers(-2, 3, d) / 4.0
    y = x @ theta + rng.integers(-2, 3, n) / 4.0
    return {"bool": x, "int": x.astype(np.int8), "float": x.astype(np.float32)}[kind], y, theta


PAIRS = {"single": (3, 7), "group": ([0, 5, 2], [9, 1, 4])}
X, Y, THETA = data("gaussian", 0)
GOOD = {"x": X, "y": Y, "i": 0, "j": 1, "score": SquaredResidual(THETA)}
