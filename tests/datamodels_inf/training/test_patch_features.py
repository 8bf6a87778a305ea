"""Features of patches: against a reference in loops, of mean square 1, from the seed alone, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from datamodels_inf.training import patch_features
from datamodels_inf.training.patch_features import PatchFeatures, learn_patch_features
from datamodels_inf.training.recipe import PatchRecipe

SMALL = PatchRecipe(patch=3, n_patches=400, n_images=30, n_centroids=4, rounds=5, n_components=6)


def some_images(n: int = 40, shape: tuple[int, ...] = (7, 6, 3), seed: int = 0) -> NDArray[np.uint8]:
    """Smooth noise: neighbouring pixels are alike, as in photographs."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (n, *shape)).astype(float)
    smooth = (coarse + np.roll(coarse, 1, 1) + np.roll(coarse, 1, 2)) / 3
    return smooth.astype(np.uint8)


def learned(recipe: PatchRecipe = SMALL, seed: int = 3, **changes: Any) -> PatchFeatures:
    return learn_patch_features(**({"images": some_images(), "recipe": recipe, "seed": seed} | changes))


# ----------------------------------------------------------------------------------------- the naive reference


def naive_normalised(patch: list[float]) -> list[float]:
    mean = sum(patch) / len(patch)
    variance = sum((value - mean) ** 2 for value in patch) / len(patch)
    return [(value - mean) / math.sqrt(variance + 10) for value in patch]


def naive_patch(image: NDArray[np.uint8], row: int, column: int, side: int) -> list[float]:
    """Normalised; the numbers channel by channel."""
    places = [(row + y, column + x, c) for c in range(image.shape[2]) for y in range(side) for x in range(side)]
    return naive_normalised([float(image[place]) for place in places])


def naive_whitening(patches: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mu = patches.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(patches.T))
    return mu, sum(np.outer(v, v) / math.sqrt(value + 0.1) for value, v in zip(values, vectors.T, strict=True))


def naive_pooled(
    image: NDArray[np.uint8], mu: NDArray[Any], W: NDArray[Any], centroids: NDArray[Any], recipe: PatchRecipe
) -> NDArray[np.float64]:
    """8 K sums: max(0, c·W(p − μ) − threshold) of all quadrants and directions, then those of −c."""
    rows, columns = image.shape[0] - recipe.patch + 1, image.shape[1] - recipe.patch + 1
    K = len(centroids)
    sums = np.zeros((2, 4, K))
    for row in range(rows):
        for column in range(columns):
            p = np.array(naive_patch(image, row, column, recipe.patch))
            quadrant = 2 * (row >= math.ceil(rows / 2)) + (column >= math.ceil(columns / 2))
            for k in range(K):
                answer = centroids[k] @ W @ (p - mu)
                sums[0, quadrant, k] += max(0.0, answer - recipe.threshold)
                sums[1, quadrant, k] += max(0.0, -answer - recipe.threshold)
    return sums.ravel()


@pytest.mark.parametrize("power", [0.0, 0.2, 0.5])
def test_agrees_with_loops(power: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patches and centroids that were drawn are taken over; whitening, answers, sums and components are done again."""
    recipe = PatchRecipe(3, 400, 30, 4, 5, 0.25, 6, power)
    kept: dict[str, Any] = {}

    def noted(name: str) -> None:
        function = getattr(patch_features, name)
        monkeypatch.setattr(patch_features, name, lambda *args: kept.setdefault(name, function(*args)))

    noted("_sampled_patches"), noted("_centroids")
    monkeypatch.setattr(patch_features, "_AT_ONCE", 7)  # so that images come in several parts
    images = some_images()
    order: list[NDArray[np.uint8]] = []
    pooled = patch_features._pooled
    monkeypatch.setattr(patch_features, "_pooled", lambda some, *args: order.append(some) or pooled(some, *args))
    found = learned(recipe).of(images)

    patches = np.array([naive_normalised(patch) for patch in kept["_sampled_patches"].tolist()])
    mu, W = naive_whitening(patches)
    centroids = kept["_centroids"].numpy().astype(float)
    np.testing.assert_allclose(np.linalg.norm(centroids, axis=1), 1, rtol=1e-5)
    base = np.array([naive_pooled(image, mu, W, centroids, recipe) for image in order[0]])
    assert len(base) == 30
    values, vectors = np.linalg.eigh(np.cov(base.T))
    largest = [(values[-k], vectors[:, -k] / values[-k] ** power) for k in range(1, 7)]
    spread = math.sqrt(sum(value ** (1 - 2 * power) for value, _ in largest) / 6)
    for image, features in zip(images, found, strict=True):
        numbers = naive_pooled(image, mu, W, centroids, recipe) - base.mean(axis=0)
        for (_, direction), feature in zip(largest, features, strict=True):
            expected = abs(direction @ numbers) / spread  # eigenvectors are known up to their sign
            assert abs(feature) == pytest.approx(expected, abs=2e-3, rel=2e-3)


def test_sampled_patches_are_patches_of_the_images() -> None:
    images = some_images(3)
    patches = patch_features._sampled_patches(images, SMALL, np.random.default_rng(0))
    every = {
        tuple(float(image[row + y, column + x, c]) for c in range(3) for y in range(3) for x in range(3))
        for image in images
        for row in range(5)
        for column in range(4)
    }
    drawn = set(map(tuple, patches.tolist()))
    assert len(patches) == 400
    assert drawn == every  # 400 draws of 60, the last row and column among them


# ---------------------------------------------------------------------------------------------------- promises


@pytest.mark.parametrize("power", [0.0, 0.2, 0.5])
def test_the_numbers_of_an_image_have_mean_square_one(power: float) -> None:
    recipe = PatchRecipe(3, 400, 40, 4, 5, 0.25, 6, power)
    features = learned(recipe).of(some_images())
    assert (features.shape, features.dtype) == ((40, 6), np.float32)
    assert np.mean(features**2) == pytest.approx(39 / 40, rel=1e-3)  # the covariance divides by n − 1
    squares = (features**2).mean(axis=0)
    assert (np.diff(squares) < 0).all() if power < 0.5 else np.allclose(squares, 39 / 40, rtol=1e-2)


def test_the_seed_settles_everything() -> None:
    images = some_images()
    first = learned().of(images)
    np.testing.assert_array_equal(learned().of(images), first)
    assert not np.allclose(np.abs(learned(seed=4).of(images)), np.abs(first), atol=1e-2)
    np.testing.assert_allclose(learned().of(images[5:9]), first[5:9], atol=1e-5)


def test_progress_counts_images() -> None:
    calls: list[int] = []
    learned(progress=calls.append).of(some_images(203), calls.append)
    assert calls == [30, 100, 100, 3]


# --------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (some_images()[..., 0], r"`images` must be uint8, \(n, H, W, channels\)"),
        (some_images().astype(np.float32), r"`images` must be uint8, \(n, H, W, channels\)"),
        (some_images()[:0], "not empty"),
        (some_images()[:6], "`images` must be more than `n_components`"),
        (some_images(40, (7, 3, 3)), "`patch` must be smaller than the images"),
        (np.full((40, 7, 6, 3), 9, np.uint8), "`images` must not be all alike"),
    ],
)
def test_bad_images_are_named(images: NDArray[Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        learned(images=images)


def test_other_images_must_have_the_same_channels() -> None:
    with pytest.raises(ValueError, match="must have the channels of those that were learned from"):
        learned().of(some_images(3, (7, 6, 1)))
