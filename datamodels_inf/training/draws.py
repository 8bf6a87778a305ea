"""What is drawn for a model, from the seed and its number alone: its mask, its first weights, its minibatches."""

from __future__ import annotations

import hashlib
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Law = Literal["fixed-size", "bernoulli"]

MASK, WEIGHTS, ORDER = range(3)
"""A model has one random stream for each purpose."""


def draw_masks(
    n_train: int, first: int, last: int, *, seed: int, proportion: float = 0.5, law: Law = "fixed-size"
) -> NDArray[np.bool_]:
    """Masks of models first..last-1, one row each; a row depends only on `seed` and the model's index.

    "fixed-size" keeps a uniform subset of exactly round(proportion * n_train) images, "bernoulli" keeps every
    image independently with probability `proportion`.

    >>> masks = draw_masks(6, 0, 2, seed=0)
    >>> masks.sum(axis=1).tolist(), np.array_equal(draw_masks(6, 1, 2, seed=0), masks[1:])
    ([3, 3], True)
    """
    if n_train < 1:
        raise ValueError("`n_train` must be at least 1.")
    if not 0 <= first <= last:
        raise ValueError("`first` must be at least 0 and at most `last`.")
    if not 0 < proportion < 1:
        raise ValueError("`proportion` must lie strictly between 0 and 1.")
    if law not in get_args(Law):
        raise ValueError(f"`law` must be one of {', '.join(get_args(Law))}.")
    masks = np.zeros((last - first, n_train), dtype=np.bool_)
    size = round(proportion * n_train)
    for row, model in zip(masks, range(first, last), strict=True):
        rng = stream(seed, model, MASK)
        if law == "fixed-size":
            row[rng.choice(n_train, size, replace=False, shuffle=False)] = True
        else:
            np.less(rng.random(n_train), proportion, out=row)
    return masks


def stream(seed: int, model: int, purpose: int) -> np.random.Generator:
    """The random numbers of one model for one purpose: a Philox generator keyed by (seed, model)."""
    if not 0 <= seed < 2**64:
        raise ValueError("`seed` must be a whole number from 0 to 2**64 - 1.")
    key, counter = np.array([seed, model], dtype=np.uint64), np.array([0, 0, 0, purpose], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def model_seed(seed: int, model: int) -> int:
    """A whole number below 2**32 of one model's own, for generators that are not ours.

    Models of one seed never share it: it is a permutation of their numbers, which the seed chooses. No more than 32
    bits, since numpy's RandomState and with it scikit-learn take no more.
    """
    if not 0 <= model < 2**32:
        raise ValueError("`model` must be a whole number from 0 to 2**32 - 1.")
    digest = hashlib.sha256(f"seeds of models {seed}".encode()).digest()
    mixed = model ^ int.from_bytes(digest[:4], "big")
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):  # MurmurHash3's last steps, each reversible.
        mixed = (mixed ^ mixed >> shift) * factor % 2**32
    return mixed ^ int.from_bytes(digest[4:8], "big")
