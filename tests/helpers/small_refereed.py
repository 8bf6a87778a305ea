"""A source of 24 images and 6 targets with the scores of four methods, refereed."""

import numpy as np
from released_layout import released

from pipeline.config_files import load_config
from pipeline.run import Pipeline

D, TARGETS, FIT_ROWS, ROWS = 24, 6, 250, 650
METHODS = ("good.npy", "turned.npy", "noise.npy", "lasso")


def write_source(folder):
    """good: the law itself; turned: its negative, with some noise; noise: of the other orientation."""
    weight = released(folder, n=ROWS, d=D, targets=TARGETS)
    rng = np.random.default_rng(3)
    np.save(folder / "good.npy", weight)
    np.save(folder / "turned.npy", -weight + 0.1 * rng.standard_normal(weight.shape))
    np.save(folder / "noise.npy", rng.standard_normal((TARGETS, D)))
    return folder


def settings(source, methods=METHODS):
    scores = [name if name == "lasso" else str(source / name) for name in methods]
    return [
        "source.kind=files", f"source.folder={source}", f"source.images={source / 'images.npz'}",
        f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={ROWS - FIT_ROWS}", "test.target_class=dog",
        "fit.targets=all", "fit.n_lambdas=20", "report.name=digits",
        "referee.resamples=500", f"referee.scores={scores}",
    ]  # fmt: skip


def pipeline(source, store, *more, methods=METHODS, lines=None, threads=1):
    say = (lambda line: None) if lines is None else lines.append
    config = load_config("digits", [*settings(source, methods), *more])
    return Pipeline(config, store, store / "reports", quiet=True, say=say, threads=threads, command="made here")
