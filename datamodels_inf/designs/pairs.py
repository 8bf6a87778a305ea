"""Designs: which tests to make, as arrays, for one test or for millions.

A test is (I, J, target): two training images, or two disjoint groups of them of equal size. A design is
chosen before the held-out rows are looked at: by a seed, by hand, or by θ̂, which comes from other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints, check_choice, check_integer
from datamodels_inf.masks import FloatArray

Versus: TypeAlias = Literal["hurters", "helpers", "random"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """n tests. The members of I of test p are left[bounds[p] : bounds[p + 1]], and those of J are there in `right`.

    kind: for each test the position in `kinds` of what it compares, such as "helper against hurter".
    """

    left: Ints
    right: Ints
    bounds: Ints
    target: Ints
    kind: NDArray[np.int8]
    kinds: tuple[str, ...]

    @classmethod
    def of_triples(cls, triples: Ints, kind: str) -> Pairs:
        """Of rows (i, j, target): groups of one."""
        i, j, target = np.ascontiguousarray(triples.reshape(-1, 3).T)
        return cls(i, j, np.arange(len(i) + 1), target, np.zeros(len(i), np.int8), (kind,))

    def __len__(self) -> int:
        return len(self.target)

    @property
    def i(self) -> Ints:
        """The first member of each I."""
        return self.left[self.bounds[:-1]]

    @property
    def j(self) -> Ints:
        """The first member of each J."""
        return self.right[self.bounds[:-1]]

    @property
    def sizes(self) -> Ints:
        """The number of members of I, which is that of J."""
        return np.diff(self.bounds)

    def members(self, tests: Ints) -> Ints:
        """(P, 2, g): the members of I and of J in `tests`, all of one size g."""
        size = int(self.sizes[tests[0]])
        place = self.bounds[tests][:, None] + np.arange(size)
        return np.stack([self.left[place], self.right[place]], axis=1)

    def take(self, tests: Ints) -> Pairs:
        """These tests alone, in this order."""
        left, bounds = take_runs(self.left, self.bounds, tests)
        right, _ = take_runs(self.right, self.bounds, tests)
        return Pairs(left, right, bounds, self.target[tests], self.kind[tests], self.kinds)

    def distinct(self) -> Pairs:
        """Without repetitions, by target and within a target in the old order.

        (I, J) and (J, I) are one test on the same target, and so are groups that list the same matched members
        (i_k, j_k) in another order. The first of them stays.

        >>> pairs = Pairs.of_triples(np.array([[4, 7, 1], [7, 4, 1], [4, 7, 0]]), "listed").distinct()
        >>> list(zip(pairs.i.tolist(), pairs.j.tolist(), pairs.target.tolist(), strict=True))
        [(4, 7, 0), (4, 7, 1)]
        """
        kept = np.ones(len(self), np.bool_)
        for size in np.unique(self.sizes).tolist():
            tests = np.flatnonzero(self.sizes == size)
            keys = np.column_stack([self.target[tests], _unordered(self.members(tests))])
            order = np.lexsort(keys.T)  # Stable: of equal tests the first comes first.
            repeated = np.zeros(len(tests), np.bool_)
            repeated[order[1:]] = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
            kept[tests[repeated]] = False
        remaining = np.flatnonzero(kept)
        return self.take(remaining[np.argsort(self.target[remaining], kind="stable")])


def take_runs(values: Ints, bounds: Ints, which: Ints) -> tuple[Ints, Ints]:
    """(the runs values[bounds[p] : bounds[p + 1]] for p in `which`, one after the other; their bounds)."""
    lengths = np.diff(bounds)[which]
    new = np.concatenate([[0], np.cumsum(lengths)])
    return values[np.arange(new[-1]) + np.repeat(bounds[:-1][which] - new[:-1], lengths)], new


def _unordered(members: Ints) -> Ints:
    """(P, 2g): the same for (I, J), for (J, I), and for any order of the matched members (i_k, j_k)."""
    left, right = members[:, 0], members[:, 1]
    # The groups are disjoint, so the side that holds the smallest number of all is never a draw.
    turned = (left.min(axis=1) > right.min(axis=1))[:, None]
    left, right = np.where(turned, right, left), np.where(turned, left, right)
    order = np.argsort(left, axis=1)
    return np.concatenate([np.take_along_axis(side, order, axis=1) for side in (left, right)], axis=1)


KINDS = {
    "hurters": "helper against hurter",
    "helpers": "helper against helper",
    "random": "helper against random image",
}


def top_pairs(
    weight: FloatArray,
    targets: Ints,
    *,
    k: int = 5,
    versus: Sequence[Versus] = ("hurters", "helpers", "random"),
    random_partners: int = 5,
    seed: int = 0,
) -> Pairs:
    """For each target the k images with the largest θ̂ (helpers) and the k with the smallest (hurters).

    Column c of `weight` belongs to targets[c]. `versus` says what is compared:

    "hurters": the r-th strongest helper with the r-th strongest hurter, k tests;
    "helpers": the helpers among themselves, k(k − 1)/2 tests;
    "random": each helper with `random_partners` images that are neither helpers nor hurters, drawn by the seed and the
        target's number alone, k·random_partners tests.

    Of equal θ̂, the image with the larger number is the stronger helper, the one with the smaller the stronger hurter.
    """
    check_integer("k", k, 1)
    check_integer("random_partners", random_partners, 1)
    for choice in versus:
        check_choice("versus", choice, get_args(Versus))
    if targets.size == 0 or not versus:
        raise ValueError("`targets` and `versus` must not be empty.")
    needed = 2 * k + (random_partners if "random" in versus else 0)
    if needed > len(weight):
        raise ValueError(
            f"`k` and `random_partners` must be smaller: {needed} images are needed, but there are {len(weight)}."
        )
    helpers, hurters = np.empty((2, targets.size, k), np.int64)
    partners = np.empty((targets.size, k, random_partners), np.int64)
    for t, target in enumerate(targets.tolist()):
        order = np.argsort(weight[:, t], kind="stable")
        helpers[t], hurters[t] = order[::-1][:k], order[:k]
        if "random" in versus:
            rng = np.random.default_rng([seed, target])
            partners[t] = [rng.choice(order[k:-k], random_partners, replace=False) for _ in range(k)]
    first, second = np.triu_indices(k, 1)
    compared = {
        "hurters": (helpers, hurters),
        "helpers": (helpers[:, first], helpers[:, second]),
        "random": (np.repeat(helpers, random_partners, axis=1), partners.reshape(targets.size, -1)),
    }
    left, right = (np.concatenate([compared[choice][side] for choice in versus], axis=1) for side in (0, 1))
    kind = np.repeat(np.arange(len(versus), dtype=np.int8), [compared[choice][0].shape[1] for choice in versus])
    triples = np.stack([left, right, np.broadcast_to(targets[:, None], left.shape)], axis=2)
    return replace(
        Pairs.of_triples(triples, ""),
        kind=np.tile(kind, targets.size),
        kinds=tuple(KINDS[choice] for choice in versus),
    )


def grid_pairs(images: Ints, targets: Ints) -> Pairs:
    """Every two of `images`, in their order, on every one of `targets`.

    >>> pairs = grid_pairs(np.array([4, 7, 9]), np.array([0]))
    >>> list(zip(pairs.i.tolist(), pairs.j.tolist(), pairs.target.tolist(), strict=True))
    [(4, 7, 0), (4, 9, 0), (7, 9, 0)]
    """
    values, counts = np.unique(images, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"`images` must be different, but image {values[counts > 1][0]} stands there twice.")
    first, second = np.triu_indices(len(images), 1)
    shape = targets.size, first.size
    columns = (images[first], images[second], targets[:, None])
    return Pairs.of_triples(np.stack([np.broadcast_to(column, shape) for column in columns], axis=2), "grid")
