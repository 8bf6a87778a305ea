"""Look-alikes of images and targets: who they are, and where there are none."""

import numpy as np
import pytest
from clustered_images import CLUSTER, LABELS, N_TRAIN, run, settings, write_clusters

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
from pipeline.run import Pipeline


def test_neighbouring_targets_are_influenced_alike(clusters):
    """Two of twelve targets are tested, and each has two more of its kind."""
    result = run(clusters, "robustness.top=2", "robustness.targets=[0,4]", "robustness.neighbours=2")
    for case in result.summary["cases"]:
        assert case["targets"] == [0, 4]
        assert set(case["near"]["target 0"]["images"]) == {1, 2}
        assert set(case["near"]["target 4"]["images"]) == {3, 5}
        assert case["agreement"]["target"]["n"] == 4
        assert case["agreement"]["target"]["same_sign"] == 1.0


def test_copies_are_flagged(clusters):
    result = run(clusters, "robustness.pair=[0,7]", "robustness.n_targets=2")
    (case,) = result.summary["cases"]
    assert case["near"]["i"]["images"][0] == 1
    assert case["near"]["i"]["distances"][0] == 0.0
    assert case["near"]["i"]["near_copies"][0] == 1
    assert case["finding"] is None


def test_two_images_of_one_class_have_no_look_alike_in_common(clusters):
    """Of two images that look alike themselves: else (a, b) and (b, a) would both be re-runs, and never agree."""
    i, j = np.flatnonzero(CLUSTER[2] == CLUSTER)[[1, 3]].tolist()
    (case,) = run(clusters, f"robustness.pair=[{i},{j}]", "robustness.neighbours=4").summary["cases"]
    near = {side: case["near"][side]["images"] for side in ("i", "j")}
    assert len({i, j, *near["i"], *near["j"]}) == 10
    for side, own in (("i", i), ("j", j)):
        assert (LABELS[near[side]] == LABELS[own]).all()
        assert case["near"][side]["distances"] == sorted(case["near"][side]["distances"])
        assert np.mean(CLUSTER[near[side]] == CLUSTER[own]) >= 0.5


def test_embeddings_of_ones_own(clusters, tmp_path):
    """Neighbours by number, whatever the images look like."""
    angle = np.arange(N_TRAIN) / N_TRAIN
    np.save(tmp_path / "own.npy", np.stack([np.cos(angle), np.sin(angle)], axis=1))
    result = run(clusters, "robustness.pair=[13,40]", "robustness.metric=features", "robustness.neighbours=2",
                 f"robustness.embeddings={tmp_path / 'own.npy'}", "robustness.same_class=false")  # fmt: skip
    (case,) = result.summary["cases"]
    assert sorted(case["near"]["i"]["images"]) == [12, 14]
    assert sorted(case["near"]["j"]["images"]) == [39, 41]


def test_an_image_without_weights_has_no_neighbours_by_influence(clusters):
    with pytest.raises(BadInputError, match=r"training image 0 has no neighbours by robustness\.metric = 'influence'"):
        run(clusters, "robustness.pair=[0,7]", "robustness.metric=influence", f"robustness.targets={list(range(12))}")


def test_a_class_of_one_has_no_neighbours(tmp_path):
    write_clusters(tmp_path / "source")
    images = ImageSet.load(tmp_path / "source" / "images.npz")
    labels = np.where(np.arange(N_TRAIN) == 4, 2, LABELS)
    ImageSet(images.train, labels, images.targets, images.target_labels, ("cat", "dog", "okapi")).save(
        tmp_path / "source" / "images.npz"
    )
    extra = ["test.design=grid", "test.images=[0,4]", "robustness.pair=[4,0]"]
    own = [s for s in settings(tmp_path / "source") if "repeats" not in s]
    config = load_config("digits", [*own, *extra])
    with pytest.raises(BadInputError, match="training image 4 has 0 others of its class"):
        Pipeline(config, tmp_path / "store", tmp_path / "reports", quiet=True).run("robustness")
