"""What attribution methods claim on a target, from their scores and a seed alone.

Of the k highest scores h_1, h_2, … (helpers) and the k lowest l_1, l_2, … (hurters), and random images u_1, u_2, … that
all methods share, a method claims for r = 1..k

    h_r ≻ l_r,    h_r ≻ u_r,    u_r ≻ l_r,

where i ≻ j says: training on i instead of j is better for the target. It claims nothing where its two scores are equal,
nor of a helper or hurter whose score is 0: most weights of a LASSO are, and which of them comes first means nothing.
No outcome is read here, so a test of these claims on any models that the scores have not seen is valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datamodels_inf.internal.checks import Floats, Ints, as_array, check_integer
from datamodels_inf.internal.ranks import average_ranks

KINDS = ("helper ≻ hurter", "helper ≻ random", "random ≻ hurter")
CANDIDATES = 3
"""Random images for each r: one of them is neither the helper nor the hurter."""


@dataclass(frozen=True, eq=False)
class Claims:
    """The pairs i < j of one target on which any of M methods claims something; P of them, sorted.

    claim: (P, M), 1 where a method claims i ≻ j, −1 for j ≻ i, 0 where it claims nothing. kind: (P, M), which of
    `KINDS`, and rank: (P, M), r; −1 and 0 without a claim. gap: (P, M), (place of j − place of i) / (n − 1) when the
    method sorts all n images from the most helpful on, equal scores sharing their mean place: above 0 where it puts i
    before j, 1 for its best image against its worst. silent: (M,), claims of 3k that were not made.
    """

    pairs: Ints
    claim: NDArray[np.int8]
    kind: NDArray[np.int8]
    rank: NDArray[np.int16]
    gap: NDArray[np.float32]
    silent: Ints


def claims_on(scores: ArrayLike, *, k: int = 5, seed: int = 0, target: int = 0) -> Claims:
    """The claims of M methods on one target; `scores` is (M, n), and random images depend on `seed` and `target` alone.

    Examples
    --------
    Two methods with opposite opinions of images 0 and 2:

    >>> claims = claims_on([[3.0, 1.0, -2.0, 0.5], [-2.0, 1.0, 3.0, 0.5]], k=1)
    >>> said = (claims.kind == KINDS.index("helper ≻ hurter")).any(axis=1)
    >>> claims.pairs[said].tolist(), claims.claim[said].tolist(), claims.gap[said].tolist()
    ([[0, 2]], [[1, -1]], [[1.0, -1.0]])
    """
    values = as_array("scores", scores).astype(np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"`scores` must be finite, of shape (methods, images), but its shape is {values.shape}.")
    check_integer("k", k, 1)
    n_methods, n = values.shape
    if n < CANDIDATES:
        raise ValueError(f"`scores` must be of at least {CANDIDATES} images, but there are {n}.")
    partners = random_partners(n, min(k, n), seed, target)
    made = [_of_method(column, partners) for column in values]
    found = sorted({(min(a, b), max(a, b)) for one in made for a, b in one})
    pairs = np.array(found, np.int64).reshape(-1, 2)
    claim, kind = np.zeros((len(pairs), n_methods), np.int8), np.full((len(pairs), n_methods), -1, np.int8)
    rank = np.zeros((len(pairs), n_methods), np.int16)
    row = {pair: p for p, pair in enumerate(found)}
    for m, one in enumerate(made):
        for (better, worse), (what, r) in one.items():
            p = row[min(better, worse), max(better, worse)]
            claim[p, m], kind[p, m], rank[p, m] = 1 if better < worse else -1, what, r
    places = np.stack([_places(column) for column in values])
    gap = (places[:, pairs[:, 1]] - places[:, pairs[:, 0]]).T / (n - 1)
    silent = np.array([3 * k - len(one) for one in made], np.int64)
    return Claims(pairs, claim, kind, rank, gap.astype(np.float32), silent)


def random_partners(n: int, k: int, seed: int, target: int) -> Ints:
    """(k, 3): for each r three different images of n, of which each method takes the first that it may."""
    rng = np.random.default_rng([seed, target])
    return np.stack([rng.choice(n, CANDIDATES, replace=False) for _ in range(k)])


def _of_method(scores: Floats, partners: Ints) -> dict[tuple[int, int], tuple[int, int]]:
    """(better, worse) → (kind, r), of one method; a pair that is claimed twice counts once."""
    order = np.argsort(-scores, kind="stable")
    claims: dict[tuple[int, int], tuple[int, int]] = {}
    for r, candidates in enumerate(partners.tolist(), start=1):
        helper, hurter = int(order[r - 1]), int(order[-r])
        between = next(image for image in candidates if image not in (helper, hurter))
        for kind, (better, worse) in enumerate(((helper, hurter), (helper, between), (between, hurter))):
            named = [image for image in (better, worse) if image != between]
            if scores[better] > scores[worse] and all(scores[image] != 0.0 for image in named):
                claims.setdefault((better, worse), (kind, r))
    return claims


def _places(scores: Floats) -> Floats:
    """Of each image its place from the most helpful on, from 1; equal scores share the mean of theirs."""
    return average_ranks(-scores)
