"""Clusters of images that look alike, of one influence or not, and the pipeline on them."""

import numpy as np
from pyarrow import parquet

from pipeline.config_files import load_config
from pipeline.images.image_set import ImageSet
from pipeline.run import Pipeline

CLASSES, CLUSTERS, SIZE, TARGETS = 2, 5, 6, 12
N_TRAIN = CLASSES * CLUSTERS * SIZE
N_FIT, N_TEST = 2000, 1600
CLUSTER = np.arange(N_TRAIN) // SIZE
LABELS = CLUSTER % CLASSES


def write_clusters(folder, *, alike=True, seed=0):
    """Clusters of images that look alike. With `alike` they have one influence too; else each image has its own.

    Targets come in four kinds of three that look alike and, with `alike`, are influenced alike.
    """
    rng = np.random.default_rng(seed)
    looks = rng.integers(30, 220, (CLASSES * CLUSTERS, 6, 6))
    train = np.clip(looks[CLUSTER] + rng.integers(-6, 7, (N_TRAIN, 6, 6)), 0, 255).astype(np.uint8)
    train[1] = train[0]  # A copy.
    target_looks = rng.integers(30, 220, (4, 6, 6))
    kind = np.arange(TARGETS) // 3
    targets = np.clip(target_looks[kind] + rng.integers(-6, 7, (TARGETS, 6, 6)), 0, 255).astype(np.uint8)
    shape = (CLASSES * CLUSTERS, 4)
    weight = rng.standard_normal(shape)[CLUSTER][:, kind] if alike else rng.standard_normal((N_TRAIN, TARGETS))
    masks = rng.random((N_FIT + N_TEST, N_TRAIN)) < 0.5
    margins = masks @ weight + rng.standard_normal((len(masks), TARGETS))
    (folder / "data").mkdir(parents=True)
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    images = ImageSet(train, LABELS, targets, np.zeros(TARGETS, np.int64), ("cat", "dog"))
    images.save(folder / "images.npz")
    return weight


def settings(folder):
    return [
        "source.kind=files", f"source.folder={folder}", f"source.images={folder / 'images.npz'}",
        f"source.fit_rows={N_FIT}", f"source.held_out_rows={N_TEST}", "fit.n_lambdas=30", "test.target_class=cat",
        "test.repeats=40", "test.method=contrast",
    ]  # fmt: skip


def run(clusters, *extra, name="alike"):
    config = load_config("digits", [*settings(clusters / name), *extra])
    return Pipeline(config, clusters / name / "store", clusters / name / "reports", quiet=True).run("robustness")


def datamodel(clusters):
    (path,) = (clusters / "alike" / "store" / "fit").glob("*/datamodel.npz")
    with np.load(path) as fit:
        return fit["weight"].astype(float), fit["bias"], fit["targets"].tolist()


def rows_of(result):
    return parquet.read_table(result.folder / "reruns.parquet").to_pylist()
