"""Features of images, by a network that is trained here."""

import numpy as np
import pytest
from clustered_images import CLUSTER, N_TRAIN, TARGETS, run
from own_folders import law, write

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline


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


def test_pictures_without_classes_teach_no_network(tmp_path):
    masks, outcomes = law()
    folder = write(tmp_path / "own", outcomes, masks=masks)
    np.savez(folder / "images.npz", train=np.ones((40, 8, 8), np.uint8), targets=np.ones((5, 8, 8), np.uint8))
    settings = ("source.kind=files", f"source.folder={folder}", "test.design=top", "test.repeats=", "source.fit_rows=",
                "source.held_out_rows=", "robustness.pair=[0, 1]", "robustness.metric=features")  # fmt: skip
    with pytest.raises(BadInputError, match=r'robustness\.metric = "features" needs images with labels'):
        Pipeline(load_config("digits", settings), tmp_path / "store", tmp_path, quiet=True).run("features")
