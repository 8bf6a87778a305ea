"""A source of 24 images and 40 targets with its atlas, and the same influences by the library on dense masks."""

import numpy as np
from released_layout import released

from datamodels_inf import influence
from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.stages.atlas.tiles import Atlas

D, TARGETS, FIT_ROWS, ROWS = 24, 40, 200, 700
ALL = "atlas.targets=all"


def write_source(folder):
    """Two classes, cat and dog by turns; half of all influences are 0, and so are some weights."""
    released(folder, n=ROWS, d=D, targets=TARGETS)
    masks = np.load(folder / "data" / "train_masks_50pct.npy")
    rng = np.random.default_rng(5)
    weight = rng.standard_normal((D, TARGETS)) * (rng.random((D, TARGETS)) < 0.5) / 2
    margins = masks @ weight + rng.standard_normal((ROWS, TARGETS))
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    kept = np.where(rng.random((D, TARGETS)) < 0.8, weight + 0.1 * rng.standard_normal((D, TARGETS)), 0.0)
    np.save(folder / "scores.npy", kept.astype(np.float32))
    return folder


def settings(source):
    return [
        "source.kind=files", f"source.folder={source}", f"source.images={source / 'images.npz'}",
        f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={ROWS - FIT_ROWS}", "test.target_class=dog",
        "test.repeats=2", "fit.mode=load", f"fit.file={source / 'scores.npy'}",
    ]  # fmt: skip


def words(source, *more):
    """The settings for a command line."""
    return [word for setting in (*settings(source), *more) for word in ("--set", setting)]


def pipeline(source, store, *more, lines=None, threads=None):
    say = (lambda line: None) if lines is None else lines.append
    return Pipeline(
        load_config("digits", [*settings(source), *more]),
        store,
        store / "reports",
        quiet=True,
        say=say,
        threads=threads,
    )


def atlas_of(source, store, *more, **options):
    return Atlas.of(pipeline(source, store, *more, **options).run("atlas"))


def by_library(source, store, target):
    """`influence` of all images on one target."""
    masks = np.load(source / "data" / "train_masks_50pct.npy")[FIT_ROWS:]
    margins = np.load(source / "data" / "test_margins_50pct.npy")[FIT_ROWS:].astype(float)
    theta, bias = theta_of(store, target)
    return influence(masks, margins[:, target], theta=theta, bias=bias)


def theta_of(store, target):
    """(θ̂, b) as the fit stage left them."""
    for path in store.glob("fit/*/datamodel.npz"):
        with np.load(path) as arrays:
            where = np.flatnonzero(arrays["targets"] == target)
            if where.size:
                return arrays["weight"][:, where[0]].astype(float), float(arrays["bias"][where[0]])
    raise AssertionError(f"no datamodel of {target}")
