"""A set of 40 digits that was trained here, and what 400 fresh models say of the findings on it."""

import contextlib
from pathlib import Path

import numpy as np
from command_here import ok

from pipeline.config_files import load_config
from pipeline.run import Pipeline

N_TRAIN, N_TARGETS, N_MODELS = 40, 20, 1100
FRESH = 400
HELPERS = Path(__file__).parent
TINY = ("--train", N_TRAIN, "--targets", N_TARGETS, "--models", N_MODELS, "--steps", 5, "--hidden", 4)


def make_set(folder):
    ok(folder, "train", "--out", folder / "set", *TINY, "--quiet")
    return folder / "set"


def settings(made, *more):
    return [
        "source.kind=files", f"source.folder={made}", "source.fit_rows=600", "source.held_out_rows=500",
        "fit.n_lambdas=8", "test.repeats=4", 'test.method=["paired", "contrast"]', "test.target_class=1",
        "report.name=digits", *more,
    ]  # fmt: skip


def pipeline(made, *more, say=lambda line: None):
    config = load_config("digits", settings(made, *more))
    return Pipeline(config, made.parent / "store", made.parent / "reports", quiet=True, threads=1, say=say)


def agreement(made, *more):
    return pipeline(made, f"verify.fresh={FRESH}", *more).run("agreement")


def dense(result, n_train=N_TRAIN):
    """(masks, margins) of a fresh stage."""
    bits = np.load(result.folder / "masks.npy")
    return np.unpackbits(bits, axis=1, count=n_train).astype(bool), np.load(result.folder / "margins.npy")


@contextlib.contextmanager
def batches_of(stage, size):
    """Models that are trained between two savings; changes no result."""
    before, stage.BATCH = stage.BATCH, size
    try:
        yield
    finally:
        stage.BATCH = before
