"""Single images where every model tests: the residuals of all blocks as those of one problem.

Block k, tested with θ̂_k, has n_k rows and κ_k (see `influence`). The mean of the blocks' estimates with weights
w_k = n_k·κ_k/Σ n_k·κ_k, which no margin touches, is

    Δ̂_i = θ̃_i − mean_{j≠i} θ̃_j + (1/n)·Σ_m (x_mi − S_m/d)·e_m / κ,    θ̃ = Σ_k w_k·θ̂_k,

e = y − b_k − xᵀθ̂_k: the estimate of `influence` for θ̃ and e. Residuals are centred in their block and divided by
1 − 1/n_k, so that the mean which was taken off biases nothing and makes no error too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from datamodels_inf.influence import centred
from datamodels_inf.internal.checks import Floats
from datamodels_inf.masks import PackedMasks
from datamodels_inf.targets import Target


def pooled_residuals(e: Floats, share: Floats, bounds: Sequence[int]) -> tuple[Floats, Floats]:
    """(e, w): (T, n) and (blocks,), from residuals y − b − xᵀθ̂_k; block k is rows bounds[k] to bounds[k + 1].

    share: S/d of each row. With one block, e is centred, and nothing else, as in `influence`.
    """
    blocks = [slice(start, stop) for start, stop in pairwise(bounds)]
    sizes = np.array([np.sum(share[rows] * (1.0 - share[rows])) for rows in blocks])  # n_k·κ_k
    parts = [centred(e[:, rows]) for rows in blocks]
    if len(parts) > 1:
        parts = [part / (1.0 - 1.0 / part.shape[1]) for part in parts]
    return np.concatenate(parts, axis=1), sizes / sizes.sum()


def pooled_target(masks: PackedMasks, blocks: Sequence[Target]) -> tuple[Floats, Floats]:
    """(margins, θ̃) of which `influence` and `rank_intervals`, with bias 0, make the estimates of all blocks together.

    masks: of the rows of all blocks.
    """
    sizes = [len(block.f) for block in blocks]
    e = np.concatenate([block.sample.y - block.score.bias - block.f for block in blocks])
    pooled, weight = pooled_residuals(e[None], masks.row_sums() / masks.n_train, np.cumsum([0, *sizes]).tolist())
    theta = np.sum([w * block.score.theta for w, block in zip(weight, blocks, strict=True)], axis=0)
    return pooled[0] + masks @ theta, theta
