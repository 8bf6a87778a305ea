"""MadryLab's released arrays as a formula: any rows of masks, margins and weights, at once and without a file.

A mask has exactly n/2 of n images. Image j belongs to group g(j) = j mod G and has a strength u_j, most of them 0;
target t looks at some of the groups, a_tg ∈ {−1, 0, 1}. A margin is

    y = 2 + Σ_j x_j θ_jt + noise,     θ_jt = u_j a_tg(j)

so that a row of margins is a product of G sums with a, whatever the number of images and targets, and images i and j
matter equally to t where θ_it = θ_jt. The weights of the file are those of a fit: 0.9 θ where θ is not 0, and small
wrong ones on other images; coded for ±1, as MadryLab's solver leaves them.

Every number comes from its place, by SplitMix64 with its place as the counter: what is read twice is the same twice.
Strengths are multiples of 1/256, so sums are exact in float32, in whatever order they are taken.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

SHARE_OF_IMAGES, SHARE_OF_GROUPS = 0.24, 0.25
"""Images that matter to some target, and groups that a target looks at: 6 % of a target's θ are not 0."""
NOISE = 1.5
STEP = 1.0 / 256.0
MEAN = 2.0
STREAMS = {name: np.uint64(k << 56) for k, name in enumerate(("bits", "flips", "noise"), 1)}
"""Far apart, so that no two of them count to the same place."""


@dataclass(frozen=True)
class Sizes:
    """Of a release: models, the last `held_out` of them for the test; training images, targets, groups; the seed."""

    models: int = 310_000
    held_out: int = 10_000
    images: int = 50_000
    targets: int = 10_000
    groups: int = 64
    seed: int = 21

    def __post_init__(self) -> None:
        if self.images % 8:
            raise ValueError(f"`images` must be a multiple of 8, but it is {self.images}.")

    def as_dict(self) -> dict[str, int]:
        """For a command line or a file."""
        return asdict(self)


class Law:
    """Who matters to whom, and the rows that follow from it."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        rng = np.random.default_rng(sizes.seed)
        scale = 0.08 * np.sqrt(10_000 / sizes.held_out)  # As easily seen whatever the number of tested models.
        kind = rng.random(sizes.images)
        matters = kind < SHARE_OF_IMAGES
        mistaken = (kind >= SHARE_OF_IMAGES) & (kind < 2 * SHARE_OF_IMAGES)
        size = np.maximum(1, np.round(rng.exponential(scale, sizes.images) / STEP)) * STEP
        signed = size * rng.choice([-1.0, 1.0], sizes.images)
        self.strength = np.where(matters, signed, 0.0).astype(np.float32)
        self.fitted = np.where(matters, 0.9 * signed, np.where(mistaken, 0.4 * signed, 0.0)).astype(np.float32)
        looks = rng.random((sizes.groups, sizes.targets)) < SHARE_OF_GROUPS
        sign = rng.choice([-1.0, 1.0], looks.shape)
        self.looks = np.where(looks, sign, 0.0).astype(np.float32)
        self.group = np.arange(sizes.images) % sizes.groups

    def effect(self, i: NDArray[Any], j: NDArray[Any], target: NDArray[Any]) -> NDArray[np.float64]:
        """θ_it − θ_jt: what it changes to have i and not j."""
        theta = [self.strength[k] * self.looks[self.group[k], target] for k in (i, j)]
        return np.asarray(theta[0] - theta[1], np.float64)

    def masks(self, first: int, last: int) -> NDArray[np.uint8]:
        """Rows first..last−1: 0 and 1, one byte an image."""
        out = np.empty((last - first, self.sizes.images // 8), np.uint64)
        _fill_masks(self._key("bits"), self._key("flips"), first, self.sizes.images // 2, EIGHT_BYTES, out)
        return out.view(np.uint8)

    def margins(self, first: int, last: int) -> NDArray[np.float16]:
        """Rows first..last−1 of all targets."""
        sums = np.empty((last - first, self.sizes.groups), np.float32)
        _add_up(self.masks(first, last), self.strength, sums)
        out = sums @ self.looks
        out += np.float32(MEAN)
        _add_noise(self._key("noise"), first, self._noise, out)
        return out.astype(np.float16)

    def weights(self, first: int, last: int) -> NDArray[np.float32]:
        """Rows first..last−1 of the file of weights, one a training image."""
        rows = slice(first, last)
        return np.float32(0.5) * self.fitted[rows, None] * self.looks[self.group[rows]]

    @cached_property
    def bias(self) -> NDArray[np.float32]:
        """Of the file of weights: the mean margin of each target."""
        of_group = np.bincount(self.group, self.strength.astype(np.float64), self.sizes.groups)
        return (MEAN + 0.5 * of_group @ self.looks).astype(np.float32)

    @cached_property
    def _noise(self) -> NDArray[np.float32]:
        """Normal quantiles, one for each number of 16 bits."""
        return (NOISE * ndtri((np.arange(2**16) + 0.5) / 2**16)).astype(np.float32)

    def _key(self, stream: str) -> np.uint64:
        return np.uint64(self.sizes.seed << 48) + STREAMS[stream]


EIGHT_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).view(np.uint64)[:, 0]
"""Eight masks bits as eight bytes."""


@numba.njit(inline="always")
def _mixed(key: Any, counter: Any) -> Any:
    """SplitMix64's number at a place of the stream `key`."""
    z = key + (np.uint64(counter) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit(nogil=True, cache=True)
def _fill_masks(bits: Any, flips: Any, first: int, size: int, eight_bytes: Any, out: Any) -> None:
    """Fair coins, and then images are added, or taken away, at random until there are `size` of them.

    Coins give each set of a size alike, and so does a random image more or less: the set is uniform among all of its
    size.
    """
    n_rows, n_bytes = out.shape
    words = (n_bytes + 7) // 8
    for r in range(n_rows):
        row = first + r
        count = 0
        for w in range(words):
            z = _mixed(bits, row * words + w)
            for b in range(8 * w, min(8 * w + 8, n_bytes)):
                eight = eight_bytes[z & np.uint64(255)]
                out[r, b] = eight
                count += (eight * np.uint64(0x0101010101010101)) >> np.uint64(56)
                z >>= np.uint64(8)
        step = 0
        while count != size:
            place = ((_mixed(flips, (row << 20) + step) >> np.uint64(32)) * np.uint64(8 * n_bytes)) >> np.uint64(32)
            shift = np.uint64(8) * (place & np.uint64(7))
            is_in = (out[r, place >> np.uint64(3)] >> shift) & np.uint64(1)
            if (is_in == np.uint64(1)) == (count > size):
                out[r, place >> np.uint64(3)] ^= np.uint64(1) << shift
                count += -1 if count > size else 1
            step += 1


@numba.njit(nogil=True, cache=True)
def _add_up(masks: Any, strength: Any, sums: Any) -> None:
    """sums[r, g] = Σ u_j x_rj over the images j of group g, which are every G-th."""
    n_rows, n_groups = sums.shape
    for r in range(n_rows):
        sums[r] = 0.0
        for start in range(0, strength.size, n_groups):
            for g in range(min(n_groups, strength.size - start)):
                sums[r, g] += strength[start + g] * masks[r, start + g]


@numba.njit(nogil=True, cache=True)
def _add_noise(key: Any, first: int, quantiles: Any, out: Any) -> None:
    """Four numbers of 16 bits from each place."""
    n_rows, n_columns = out.shape
    words = (n_columns + 3) // 4
    for r in range(n_rows):
        for w in range(words):
            z = _mixed(key, (first + r) * words + w)
            for c in range(4 * w, min(4 * w + 4, n_columns)):
                out[r, c] += quantiles[z & np.uint64(65535)]
                z >>= np.uint64(16)
