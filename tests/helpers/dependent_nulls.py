"""True hypotheses whose p-values are uniform, and depend on each other as badly as can be."""

import numpy as np


def on_a_line(rng, line, m, weight=None):
    """p-values of m true hypotheses: for a random j, or for none, j of them end up just under the j-th point of `line`.

    A step-up correction with this line rejects something with a chance of Σ m·(line_j − line_{j−1})/j, which is as much
    as uniform p-values allow (Guo & Rao 2008). With weights of mean 1, p/w lies on the line.
    """
    weight = np.ones(m) if weight is None else weight
    ends = np.concatenate([[0.0], line])
    chance = m * np.diff(ends) / np.arange(1, len(line) + 1)
    j = int(np.searchsorted(np.cumsum(chance), rng.random(), "right")) + 1
    p = weight * ends[-1] + (1.0 - weight * ends[-1]) * rng.random(m)
    if j <= len(line):
        order = rng.permutation(m)
        places = np.cumsum(weight[order] * j / m)  # Each is in with a chance of w·j/m, and j are in.
        picked = order[np.diff(np.floor(places + rng.random()), prepend=0.0) > 0.5][:j]
        p[picked] = weight[picked] * rng.uniform(ends[j - 1], ends[j], len(picked))
    return p
