"""Look-alikes of a training image: its nearest neighbours by pixels, by a network's features, or by influence.

Vectors say what an image looks like; a distance between them is Euclidean, or 1 − cos of the angle. Which look-alikes
are chosen must not depend on the held-out rows that are tested, and none of the three does: `influence` uses θ̂, which
comes from other rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints, check_choice, check_integer

Distance: TypeAlias = Literal["euclidean", "cosine"]

NEAR_COPY = 0.1
"""An image nearer than this share of the typical distance is all but a copy; of 1 − cos, a square, its square."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest candidates of `image`, nearest first; of equally near ones the smaller number first.

    typical: the median distance to all candidates.
    near_copy: nearer than `NEAR_COPY` of it.
    """

    image: int
    index: Ints
    distance: Floats
    near_copy: NDArray[np.bool_]
    typical: float


def nearest_neighbours(
    vectors: NDArray[np.floating[Any]], image: int, k: int, *, candidates: Ints, distance: Distance
) -> Neighbours:
    """The k of `candidates` (numbers of rows of `vectors`, `image` not counted) that are nearest to `image`.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [5.0], [1.0], [0.5], [9.0]])
    >>> nearest_neighbours(points, 0, 2, candidates=np.arange(5), distance="euclidean").index
    array([3, 2])
    """
    from sklearn.neighbors import NearestNeighbors

    check_choice("distance", distance, ("euclidean", "cosine"))
    check_integer("k", k, 1)
    own = vectors[image]
    candidates = np.setdiff1d(candidates, [image])
    others = vectors[candidates]
    if distance == "cosine":
        if not own.any():
            raise ValueError(f"`image` {image} has no direction: all its numbers are 0.")
        directed = others.any(axis=1)
        candidates, others = candidates[directed], others[directed]
    if k > candidates.size:
        raise ValueError(f"`k` = {k} neighbours are wanted of image {image}, but there are {candidates.size}.")
    finder = NearestNeighbors(n_neighbors=candidates.size, algorithm="brute", metric=distance).fit(others)
    rough, place = (found[0] for found in finder.kneighbors(own[None]))
    # The finder's distances lose digits where vectors are nearly equal; those that may be among the k are made anew.
    some = place[rough <= rough[k - 1] + 1e-4 * (1.0 + rough[k - 1])]
    exact = _distances(own.astype(np.float64), others[some].astype(np.float64), distance)
    order = np.lexsort((candidates[some], exact))[:k]
    typical = float(np.median(rough))
    limit = (NEAR_COPY if distance == "euclidean" else NEAR_COPY**2) * typical
    return Neighbours(image, candidates[some[order]], exact[order], exact[order] <= limit, typical)


def share(first: Neighbours, second: Neighbours, k: int) -> tuple[Neighbours, Neighbours]:
    """The k nearest of each of two images, none in common: they choose in turn, and the nearer gets what both want.

    Each must have 2k neighbours.
    """
    kept: tuple[list[int], list[int]] = ([], [])
    taken: set[int] = set()
    for _ in range(k):
        a, b = (next(p for p, c in enumerate(one.index.tolist()) if c not in taken) for one in (first, second))
        if first.index[a] == second.index[b]:
            if first.distance[a] <= second.distance[b]:
                b = next(p for p in range(b + 1, len(second.index)) if second.index[p] not in taken)
            else:
                a = next(p for p in range(a + 1, len(first.index)) if first.index[p] not in taken)
        taken |= {int(first.index[a]), int(second.index[b])}
        kept[0].append(a)
        kept[1].append(b)
    one, other = (
        replace(found, index=found.index[p], distance=found.distance[p], near_copy=found.near_copy[p])
        for found, p in zip((first, second), map(np.array, kept), strict=True)
    )
    return one, other


def _distances(own: Floats, others: Floats, distance: Distance) -> Floats:
    """Of `own` to each row; 1 − cos as half the squared distance of the directions, which is 0 for equal ones."""
    if distance == "euclidean":
        return np.asarray(np.linalg.norm(others - own, axis=1))
    directions = others / np.linalg.norm(others, axis=1, keepdims=True)
    return np.asarray(0.5 * np.square(directions - own / np.linalg.norm(own)).sum(axis=1))


def pixel_vectors(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Pixels, each channel with mean 0 and variance 1 over all images: a row an image."""
    channels = images.reshape(len(images), -1, images.shape[3] if images.ndim == 4 else 1)
    values = np.arange(256.0)
    shares = [np.bincount(channel.ravel(), minlength=256) / channel.size for channel in np.moveaxis(channels, 2, 0)]
    mean = np.array([share @ values for share in shares])
    spread = np.sqrt([max(0.0, share @ values**2 - m * m) for share, m in zip(shares, mean, strict=True)])
    scaled = (channels - mean.astype(np.float32)) / np.where(spread > 0, spread, 1.0).astype(np.float32)
    return np.asarray(scaled.reshape(len(images), -1), np.float32)
