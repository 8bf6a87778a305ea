"""Masks as people really have them, as files of a source with images of no influence among strong ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from pipeline.config_files import load_config
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline

CLASSES, SIZE, INERT = 6, 20, 12
IMAGES, TARGETS = CLASSES * SIZE, 50
FIT_ROWS, HELD_OUT = 200, 2000
ROWS = FIT_ROWS + HELD_OUT
LABELS = np.arange(IMAGES) // SIZE
OLD = "test.allow_unexchangeable=true"
"""As before there was a check: all is tested."""
METHODS = ("swap", "swap-exact", "paired", "contrast")


def uniform(rng, rows=ROWS):
    return rng.random((rows, IMAGES)).argsort(axis=1) < IMAGES // 2


def stratified(rng):
    return (rng.random((ROWS, CLASSES, SIZE)).argsort(axis=2) < SIZE // 2).reshape(ROWS, IMAGES)


def blocks(rng):
    """Four images of a class that always go together: one of influence with three of none, or all inert."""
    together = rng.random((ROWS, IMAGES // 4)).argsort(axis=1) < IMAGES // 8
    return np.repeat(together, 4, axis=1)[:, np.argsort(BLOCK_ORDER)]


BLOCK_ORDER = np.concatenate([
    c * SIZE + np.concatenate([[k, *(CLASSES + 2 + 3 * k + np.arange(3))] if k < 4 else [4, 5, 6, 7] for k in range(5)])
    for c in range(CLASSES)
])  # fmt: skip


def antithetic(rng):
    half = uniform(rng, ROWS // 2)
    return np.stack([half, ~half], axis=1).reshape(ROWS, IMAGES)


def reseeded(rng):
    """Four models of each mask, in any order."""
    return np.repeat(uniform(rng, ROWS // 4), 4, axis=0)[rng.permutation(ROWS)]


def drifting_size(rng):
    return rng.random((ROWS, IMAGES)) < np.linspace(0.2, 0.8, ROWS)[:, None]


@dataclass(frozen=True)
class Case:
    """masks: their law. strength: of the images that have an influence. drift: of the noise along the rows. own: an
    effect of each mask as a whole, which all models with this mask share."""

    masks: Callable[[np.random.Generator], NDArray[np.bool_]]
    strength: float = 1.0
    drift: float = 1.0
    own: float = 0.0


CASES = {
    "uniform": Case(uniform),
    "stratified": Case(stratified),
    "blocks": Case(blocks),
    "antithetic": Case(antithetic),
    "reseeded": Case(reseeded, strength=0.0, own=1.5),
    "drifting size": Case(drifting_size),
    "drifting noise": Case(uniform, drift=6.0),
}


def make(folder, name, seed=0):
    """Masks, margins and labels as files. The first images of each class have influence, one sign a class."""
    case = CASES[name]
    rng = np.random.default_rng([2026, seed])
    masks = case.masks(rng)
    weight = np.where(np.arange(IMAGES) % SIZE < SIZE - INERT, np.where(LABELS % 2, 1.0, -1.0), 0.0) * case.strength
    noise = rng.standard_normal((ROWS, TARGETS)) * np.geomspace(1, case.drift, ROWS)[:, None]
    if case.own:
        _, which = np.unique(masks, axis=0, return_inverse=True)
        noise += case.own * rng.standard_normal((which.max() + 1, TARGETS))[which.ravel()]
    folder.mkdir(parents=True)
    np.save(folder / "masks.npy", masks)
    np.save(folder / "margins.npy", ((masks @ weight)[:, None] + noise).astype(np.float32))
    Labels(LABELS, np.zeros(TARGETS, np.int64), tuple("abcdef")).save(folder / "labels.npz")
    inert = np.flatnonzero(np.arange(IMAGES) % SIZE >= SIZE - INERT)
    across = np.stack([inert[LABELS[inert] < CLASSES // 2], inert[LABELS[inert] >= CLASSES // 2]], axis=1)
    write_pairs(folder / "across.csv", across)
    write_pairs(folder / "within.csv", inert.reshape(-1, 2))
    write_pairs(folder / "both.csv", np.concatenate([across, inert.reshape(-1, 2)]))
    return masks


def write_pairs(path, pairs):
    """Each pair on each target."""
    lines = (f"{i},{j},{target}" for target in range(TARGETS) for i, j in pairs)
    path.write_text("\n".join(["i,j,target", *lines, ""]), encoding="utf-8")


def run(folder, *settings, labels=True, say=lambda line: None):
    """The columns of tests.parquet, as the stages made them, and the summary of the test stage."""
    if labels:
        settings = (f"source.labels={folder / 'labels.npz'}", *settings)
    common = ["source.kind=files", f"source.folder={folder}",
              f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={HELD_OUT}", "fit.targets=all",
              "fit.n_lambdas=10", "fit.lambda_ratio=0.05", f"test.method={list(METHODS)}"]  # fmt: skip
    config = load_config("digits", [*common, *settings])
    result = Pipeline(config, folder / "store", folder, quiet=True, say=say).run("test")
    table = parquet.read_table(result.folder / "tests.parquet")
    return {name: table[name].to_numpy() for name in table.column_names[:-2]}, result.summary


def pairs_of(folder, which):
    return "test.design=list", f"test.file={folder / which}.csv"


TOP = ("test.design=top", "test.targets=all", "test.k=8", "test.random_partners=4")
