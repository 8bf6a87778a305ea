"""Models whose outcomes are known sums over the images of their masks: for analyses in memory."""

import numpy as np


def simulated(n=600, d=30, targets=2, seed=0, size=None, noise=1.0, strong=((3, 1.0), (8, -1.0))):
    """(masks of fixed size, outcomes): each of `strong` adds its effect to every target, other images add nothing."""
    rng = np.random.default_rng(seed)
    masks = rng.permuted(np.tile(np.arange(d) < (size or d // 2), (n, 1)), axis=1)
    outcomes = noise * rng.standard_normal((n, targets))
    for image, effect in strong:
        outcomes += effect * masks[:, [image]]
    return masks, outcomes
