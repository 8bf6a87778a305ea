"""Features of colour images that no label was needed for, after Coates, Lee & Ng (2011) and Coates & Ng (2012).

A small patch p of an image is normalised, (p − mean) / √(variance + 10), and whitened, W (p − μ) with
W = V diag(1 / √(eigenvalue + 0.1)) V′. A dictionary of K directions c, the k-means centroids of many such patches
scaled to length 1, answers to it with two numbers each,

    max(0, c·p − threshold)  and  max(0, −c·p − threshold),

which are summed over the patches of each quadrant of the image: 8 K numbers an image. Of these, less their means, the
first principal components are kept, each divided by its eigenvalue to some `power` (0 keeps the spread of the
components, ½ makes them all alike), and all by one number, so that the numbers of an image have mean square 1.

Patches, centroids and components are learned from images without labels, which need not be those that models are
trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from datamodels_inf.training.recipe import PatchRecipe

_VARIANCE = 10.0  # added to that of a patch, whose pixels are 0 to 255: flat patches stay small
_RIDGE = 0.1  # added to the eigenvalues of whitening
_AT_ONCE = 100  # images whose patches are in memory together


@dataclass(frozen=True, eq=False)
class PatchFeatures:
    """What was learned; `of` makes the features of images.

    Whitening and dictionary are one matrix: c·W(p − μ) = (W c)·p − (W c)·μ. mean and components: of the pooled
    numbers, the latter divided as the recipe says.
    """

    recipe: PatchRecipe
    dictionary: Tensor  # (channels * patch * patch, K): W c
    offset: Tensor  # (K,): (W c)·μ
    mean: Tensor  # (8 K,)
    components: Tensor  # (8 K, n_components)

    def of(self, images: NDArray[np.uint8], progress: Callable[[int], object] | None = None) -> NDArray[np.float32]:
        """(n, n_components). `progress` is called with the number of images just done."""
        _check_images(images)
        if images.shape[3] * self.recipe.patch**2 != len(self.dictionary):
            raise ValueError("`images` must have the channels of those that were learned from.")
        pooled = _pooled(images, self.recipe, self.dictionary, self.offset, progress)
        return ((pooled - self.mean) @ self.components).numpy()


def learn_patch_features(
    images: NDArray[np.uint8],
    *,
    recipe: PatchRecipe,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> PatchFeatures:
    """Learn whitening, centroids and components from `images` (n, H, W, channels), of which no label is known.

    `progress` is called with the number of images whose patches were just pooled, of min(n, recipe.n_images).
    """
    _check_images(images)
    if len(images) <= recipe.n_components:
        raise ValueError("`images` must be more than `n_components`: so many have no more components.")
    if (images == images[0]).all():
        raise ValueError("`images` must not be all alike.")
    if recipe.patch >= min(images.shape[1:3]):
        raise ValueError("`patch` must be smaller than the images.")
    rng = np.random.default_rng(seed)
    patches = _normalised(_sampled_patches(images, recipe, rng))
    mu, whitening = _whitening(patches)
    centroids = _centroids((patches - mu) @ whitening, recipe, rng)
    dictionary = whitening @ centroids.T
    offset = mu @ dictionary
    some = images[rng.permutation(len(images))[: recipe.n_images]]
    pooled = _pooled(some, recipe, dictionary, offset, progress)
    mean = pooled.mean(0)
    return PatchFeatures(recipe, dictionary, offset, mean, _components(pooled - mean, recipe))


def _check_images(images: NDArray[np.uint8]) -> None:
    if images.ndim != 4 or images.dtype != np.uint8 or len(images) == 0:
        raise ValueError("`images` must be uint8, (n, H, W, channels), not empty.")


def _sampled_patches(images: NDArray[np.uint8], recipe: PatchRecipe, rng: np.random.Generator) -> Tensor:
    """(n_patches, channels * patch * patch), as `unfold` lays them out."""
    side, channels = recipe.patch, images.shape[3]
    image, row, column = (
        rng.integers(0, end, recipe.n_patches) for end in (len(images), *(n - side + 1 for n in images.shape[1:3]))
    )
    found = np.empty((recipe.n_patches, channels, side, side), np.float32)
    for y in range(side):
        for x in range(side):
            found[:, :, y, x] = images[image, row + y, column + x]
    return torch.from_numpy(found.reshape(recipe.n_patches, -1))


def _normalised(patches: Tensor) -> Tensor:
    """(p − mean) / √(variance + 10), over the last axis."""
    centred = patches - patches.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + _VARIANCE)


def _whitening(patches: Tensor) -> tuple[Tensor, Tensor]:
    """μ and W."""
    mu = patches.mean(0)
    values, vectors = np.linalg.eigh(np.cov(patches.numpy().T.astype(np.float64)))
    matrix: NDArray[Any] = (vectors / np.sqrt(np.maximum(values, 0.0) + _RIDGE)) @ vectors.T
    return mu, torch.from_numpy(matrix.astype(np.float32))


def _centroids(patches: Tensor, recipe: PatchRecipe, rng: np.random.Generator) -> Tensor:
    """Directions (K, channels * patch * patch) of length 1."""
    from sklearn.cluster import KMeans

    means = KMeans(
        recipe.n_centroids,
        init="random",
        n_init=1,
        max_iter=recipe.rounds,
        random_state=int(rng.integers(2**31)),
    ).fit(patches.numpy())
    return functional.normalize(torch.from_numpy(means.cluster_centers_.astype(np.float32)), dim=1)


def _pooled(
    images: NDArray[np.uint8],
    recipe: PatchRecipe,
    dictionary: Tensor,
    offset: Tensor,
    progress: Callable[[int], object] | None,
) -> Tensor:
    """(n, 8 K): sums of both answers of each direction over each quadrant of the patches."""
    found = []
    for some in np.split(images, range(_AT_ONCE, len(images), _AT_ONCE)):
        pixels = torch.from_numpy(some.astype(np.float32)).permute(0, 3, 1, 2)
        patches = _normalised(functional.unfold(pixels, recipe.patch).mT)
        answers = patches @ dictionary - offset
        grid = [len(some), *(n - recipe.patch + 1 for n in some.shape[1:3]), -1]
        sides = [(answers - recipe.threshold).relu_(), (-answers - recipe.threshold).relu_()]
        found.append(torch.cat([_quadrants(side.view(*grid)) for side in sides], dim=1))
        if progress is not None:
            progress(len(some))
    return torch.cat(found)


def _quadrants(grid: Tensor) -> Tensor:
    """(n, 4 K) from (n, rows, columns, K)."""
    top, left = (grid.shape[1] + 1) // 2, (grid.shape[2] + 1) // 2
    halves = grid[:, :top].sum(1), grid[:, top:].sum(1)
    return torch.cat([part for half in halves for part in (half[:, :left].sum(1), half[:, left:].sum(1))], dim=1)


def _components(centred: Tensor, recipe: PatchRecipe) -> Tensor:
    """(8 K, n_components): principal directions over eigenvalue^power, and over one number for all."""
    values, vectors = np.linalg.eigh(np.cov(centred.numpy().T.astype(np.float64)))
    kept = slice(None, -recipe.n_components - 1, -1)
    largest: NDArray[Any] = np.maximum(values[kept], 1e-12 * values[-1])
    divisor = largest**recipe.power
    spread = np.sqrt(np.mean(largest / divisor**2))
    return torch.from_numpy((vectors[:, kept] / (divisor * spread)).astype(np.float32))
