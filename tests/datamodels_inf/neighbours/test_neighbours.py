"""Look-alikes: against a plain loop, with ties, copies and bad input; features of a trained network."""

import numpy as np
import pytest

from datamodels_inf.neighbours.neighbours import Neighbours, nearest_neighbours, pixel_vectors, share
from datamodels_inf.training.recipe import Recipe
from datamodels_inf.training.train import train_features


def naive(vectors, image, k, candidates, distance):
    found = []
    for other in sorted(set(candidates.tolist()) - {image}):
        a, b = vectors[image].astype(float), vectors[other].astype(float)
        if distance == "euclidean":
            found.append((float(np.sqrt(((a - b) ** 2).sum())), other))
        elif b.any():
            found.append((1 - float(a @ b) / float(np.sqrt(a @ a) * np.sqrt(b @ b)), other))
    return sorted(found)[:k]


@pytest.mark.parametrize("distance", ("euclidean", "cosine"))
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_neighbours_equal_a_plain_loop(distance, dtype):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((80, 12)).astype(dtype)
    vectors[7] = 0.0
    candidates = rng.permutation(80)[:50]
    for image in (3, 11, 42):
        found = nearest_neighbours(vectors, image, 6, candidates=candidates, distance=distance)
        expected = naive(vectors, image, 6, candidates, distance)
        assert found.index.tolist() == [other for _, other in expected]
        np.testing.assert_allclose(found.distance, [d for d, _ in expected], rtol=1e-5)
        assert not found.near_copy.any()


@pytest.mark.parametrize("distance", ("euclidean", "cosine"))
def test_copies_come_first_with_no_distance_and_are_named(distance):
    rng = np.random.default_rng(1)
    vectors = rng.random((60, 300)).astype(np.float32)
    vectors[[20, 50, 9]] = vectors[4]
    vectors[33] = vectors[4] + 0.003 * rng.standard_normal(300)
    found = nearest_neighbours(vectors, 4, 6, candidates=np.arange(60), distance=distance)
    assert found.index[:4].tolist() == [9, 20, 50, 33]
    assert (found.distance[:3] < 1e-30).all()
    assert found.near_copy.tolist() == [True] * 4 + [False] * 2
    assert found.distance[5] < found.typical < 2 * found.distance[5]


def test_neighbours_that_cannot_be_found_are_refused():
    vectors = np.eye(4)
    with pytest.raises(ValueError, match="`k` = 4 neighbours are wanted of image 0, but there are 3"):
        nearest_neighbours(vectors, 0, 4, candidates=np.arange(4), distance="euclidean")
    with pytest.raises(ValueError, match="`k` = 1 neighbours are wanted of image 2, but there are 0"):
        nearest_neighbours(vectors, 2, 1, candidates=np.array([2]), distance="euclidean")
    vectors[1] = 0.0
    with pytest.raises(ValueError, match="`image` 1 has no direction"):
        nearest_neighbours(vectors, 1, 1, candidates=np.arange(4), distance="cosine")
    with pytest.raises(ValueError, match="`k` must be a whole number"):
        nearest_neighbours(vectors, 0, 0, candidates=np.arange(4), distance="cosine")


@pytest.mark.parametrize("shape", ((40, 8, 8), (40, 5, 6, 3)))
def test_pixels_are_standardised_by_channel(shape):
    rng = np.random.default_rng(2)
    images = rng.integers(0, 200, shape).astype(np.uint8)
    if len(shape) == 4:
        images[..., 2] //= 10
        images[..., 1] = 7
    vectors = pixel_vectors(images)
    channels = vectors.reshape(len(images), -1, shape[3] if len(shape) == 4 else 1)
    np.testing.assert_allclose(channels.mean(axis=(0, 1)), 0.0, atol=1e-4)
    expected = [1.0] if len(shape) == 3 else [1.0, 0.0, 1.0]
    np.testing.assert_allclose(channels.std(axis=(0, 1)), expected, rtol=1e-3)


def test_shared_neighbours_go_to_the_nearer_in_turn():
    def found(image, index, distance):
        return Neighbours(image, np.array(index), np.array(distance), np.array(distance) < 1.0, 5.0)

    first = found(0, [10, 11, 12, 13], [0.5, 2.0, 3.0, 4.0])
    second = found(1, [10, 12, 11, 14], [1.0, 2.5, 2.6, 9.0])
    a, b = share(first, second, 2)
    assert (a.index.tolist(), b.index.tolist()) == ([10, 11], [12, 14])
    assert (a.distance.tolist(), b.distance.tolist()) == ([0.5, 2.0], [2.5, 9.0])
    assert (a.near_copy.tolist(), a.image, b.image, a.typical) == ([True, False], 0, 1, 5.0)
    b, a = share(second, first, 2)
    assert (a.index.tolist(), b.index.tolist()) == ([10, 11], [12, 14])


@pytest.mark.parametrize("architecture", ("convnet", "mlp", "softmax"))
def test_features_tell_classes_apart(architecture):
    """Two classes that pixels hardly tell apart: a bright spot on noise, in one of two corners."""
    rng = np.random.default_rng(3)
    labels = np.arange(120) % 2
    images = rng.random((120, 8, 8)).astype(np.float32)
    images[labels == 0, 1:3, 1:3] += 1.0
    images[labels == 1, 5:7, 5:7] += 1.0
    recipe = Recipe(architecture, hidden=8, steps=60, learning_rate=0.02)
    features, of_others = train_features(images, labels, images[:7], recipe=recipe, seed=5, n_classes=2)
    steps: list[int] = []
    again, _ = train_features(images, labels, images[:7], recipe=recipe, seed=5, n_classes=2, progress=steps.append)
    assert steps == [1] * 60
    np.testing.assert_allclose(of_others, features[:7], rtol=1e-4, atol=1e-5)
    assert features.dtype == np.float32 and features.shape == (
        120,
        {"convnet": 64, "mlp": 8, "softmax": 64}[architecture],
    )
    np.testing.assert_array_equal(features, again)
    agree = []
    for image in range(40):
        found = nearest_neighbours(features, image, 5, candidates=np.arange(120), distance="cosine")
        agree.append(np.mean(labels[found.index] == labels[image]))
    assert np.mean(agree) > (0.9 if architecture != "softmax" else 0.5)
