"""Seeded fair coins for ties: the top bit of a hash (SplitMix64) of seed, pair and sample number.

A hash rather than a stream: the coin of a sample does not depend on which other pairs are tested, in which order, or
on how many threads. Swapping i and j is the same swap, so it gets the same coins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from datamodels_inf.masks import count_ones

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
ONE, WIDTH = np.uint64(1), np.uint64(64)
MIX_2 = np.uint64(0x94D049BB133111EB)


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser."""
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


def coin_keys(pairs: Ints, seed: int) -> NDArray[np.uint64]:
    """One 64-bit key for each of the (P, 2, g) pairs; the order within a pair and within a group does not matter."""
    low = pairs.min(axis=1).astype(np.uint64)
    high = pairs.max(axis=1).astype(np.uint64)
    members = _mix(_mix(low + GOLDEN) + high * GOLDEN).sum(axis=1, dtype=np.uint64)
    return _mix(members + _mix(np.full(1, seed, np.uint64) + GOLDEN))


def count_heads(pairs: Ints, seed: int, coins: Ints) -> Ints:
    """How many of coins[p] coins of pair p fall heads: bits of hashed words, 64 at a time."""
    keys = coin_keys(pairs, seed)
    heads = np.zeros(len(pairs), np.int64)
    for word in range(-(-int(coins.max(initial=0)) // 64)):
        left = np.clip(coins - 64 * word, 0, 64)
        some = np.flatnonzero(left)
        bits = _mix(keys[some] + np.full(1, word + 1, np.uint64) * GOLDEN)
        bits = np.where(left[some] == 64, bits, bits & ((ONE << left[some].astype(np.uint64) % WIDTH) - ONE))
        heads[some] += count_ones(bits[:, None].view(np.uint8))
    return heads


def flip_coins(key: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """The coins of samples 0..n−1 under a key of shape (1,)."""
    samples = np.arange(1, n + 1, dtype=np.uint64)
    return np.asarray(_mix(key + samples * GOLDEN) >> np.uint64(63), np.bool_)
