"""Features of images, by a network that is trained here."""

import numpy as np
from clustered_images import CLUSTER, N_TRAIN, TARGETS, run


def test_copies_have_one_feature_and_clusters_lie_together(clusters):
    run(clusters, "robustness.pair=[0,7]", "robustness.metric=features", "robustness.n_targets=2")
    (path,) = (clusters / "alike" / "store" / "features").glob("[0-9a-f]*/features.npz")
    with np.load(path) as arrays:
        train, targets = arrays["train"].astype(float), arrays["targets"]
    assert (len(train), len(targets)) == (N_TRAIN, TARGETS)
    assert train.shape[1] == targets.shape[1] > 1
    assert np.isfinite(train).all()
    np.testing.assert_array_equal(train[0], train[1])  # An image and its copy.
    directions = train / np.linalg.norm(train, axis=1, keepdims=True)
    alike = directions @ directions.T
    np.fill_diagonal(alike, -np.inf)
    assert np.mean(CLUSTER[alike.argmax(axis=1)] == CLUSTER) > 0.95
