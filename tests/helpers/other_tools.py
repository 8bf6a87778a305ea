"""Files that other tools made (tests/fixtures/other_tools), and outcomes for those that have none."""

from pathlib import Path

import numpy as np

FILES = Path(__file__).parents[1] / "fixtures" / "other_tools"
N_TRAIN = 16


def outcomes(folder, n_models):
    """A file of outcomes on 2 targets."""
    path = folder / "mine.npy"
    np.save(path, np.random.default_rng(0).standard_normal((n_models, 2)))
    return path
