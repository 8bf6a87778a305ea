"""Which (i, j, target) to test."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.checks import Ints, check_choice

Design: TypeAlias = Literal["paper", "paper-unordered"]


def draw_pairs(
    design: Design,
    train_labels: NDArray[np.int64],
    targets: Ints,
    *,
    repeats: int = 20,
    seed: int = 0,
) -> Ints:
    """Rows (i, j, target) of the paper's CIFAR-10 experiment.

    "paper": for every ordered pair of classes (a, b), `repeats` draws of a training image i of class a, a training
    image j ≠ i of class b and one of `targets`; 10 classes and 20 repeats give 2000 tests. "paper-unordered": a ≤ b
    only, 1100.
    Draws are uniform, and a triple that was drawn before, in either order of i and j, is drawn again.
    """
    check_choice("design", design, ("paper", "paper-unordered"))
    if repeats < 1:
        raise ValueError(f"`repeats` must be at least 1, but it is {repeats}.")
    if targets.size == 0:
        raise ValueError("`targets` must not be empty: no target of the wanted class.")
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(train_labels == label) for label in np.unique(train_labels)]
    seen: set[tuple[int, int, int]] = set()
    rows = []
    for a, left in enumerate(members):
        for b, right in enumerate(members):
            if design == "paper-unordered" and b < a:
                continue
            _check_supply(left, right, targets, repeats, ordered=design == "paper")
            for _ in range(repeats):
                rows.append(_draw_new(rng, left, right, targets, seen))
    return np.array(rows, np.int64)


def _check_supply(left: Ints, right: Ints, targets: Ints, repeats: int, *, ordered: bool) -> None:
    """That enough different triples exist: (a, b) and (b, a) draw from the same unordered pairs."""
    same = left is right
    pairs = left.size * (left.size - 1) // 2 if same else left.size * right.size
    needed = repeats if same or not ordered else 2 * repeats
    if pairs * targets.size < needed:
        raise ValueError(
            f"`repeats` must be at most the number of different tests of a class pair, but {needed} are wanted of "
            f"{pairs * targets.size}."
        )


def _draw_new(
    rng: np.random.Generator, left: Ints, right: Ints, targets: Ints, seen: set[tuple[int, int, int]]
) -> tuple[int, int, int]:
    while True:
        i, j, target = (int(rng.choice(group)) for group in (left, right, targets))
        key = (min(i, j), max(i, j), target)
        if i != j and key not in seen:
            seen.add(key)
            return i, j, target
