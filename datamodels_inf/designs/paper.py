"""Which (i, j, target) the paper tests."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints, check_choice

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
    seen: dict[tuple[int, int], Ints] = {}  # Of an unordered pair of classes, what was drawn.
    rows = []
    for a, left in enumerate(members):
        for b, right in enumerate(members):
            if design == "paper-unordered" and b < a:
                continue
            _check_supply(left, right, targets, repeats, ordered=design == "paper")
            classes = min(a, b), max(a, b)
            drawn, seen[classes] = _draw_new(
                rng, (left, right, targets), repeats, seen.get(classes, np.empty(0, np.int64))
            )
            rows.append(drawn)
    return np.concatenate(rows)


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


def _draw_new(rng: np.random.Generator, groups: tuple[Ints, Ints, Ints], repeats: int, seen: Ints) -> tuple[Ints, Ints]:
    """(`repeats` new triples, one member of each group; `seen` and their keys). `seen` is sorted."""
    parts: list[Ints] = []
    missing = repeats
    while missing:
        # As many as are missing, never more: a seed then draws the same triples as one draw after the other would.
        places = rng.integers(0, np.tile([group.size for group in groups], (missing, 1)))
        drawn = np.stack([group[place] for group, place in zip(groups, places.T, strict=True)], axis=1)
        keys = _keys(drawn, groups)
        first = np.zeros(len(drawn), np.bool_)
        first[np.unique(keys, return_index=True)[1]] = True
        new = first & (drawn[:, 0] != drawn[:, 1]) & ~_among(keys, seen)
        if new.any():
            parts.append(drawn[new])
            seen = np.sort(np.concatenate([seen, keys[new]]))
            missing -= len(parts[-1])
    return np.concatenate(parts), seen


def _keys(rows: Ints, groups: tuple[Ints, Ints, Ints]) -> Ints:
    """One number for each triple, whatever the order of i and j."""
    i, j, target = rows.T
    images, targets = int(max(groups[0].max(), groups[1].max())) + 1, int(groups[2].max()) + 1
    key: Ints = (np.minimum(i, j) * images + np.maximum(i, j)) * targets + target
    return key


def _among(keys: Ints, ordered: Ints) -> NDArray[np.bool_]:
    if ordered.size == 0:
        return np.zeros(keys.shape, np.bool_)
    return np.asarray(ordered[np.searchsorted(ordered, keys).clip(max=ordered.size - 1)] == keys)
