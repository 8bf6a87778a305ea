"""Features of all images, for look-alikes: what a network sees that is trained here on the whole training set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.base import Run, Stage
from pipeline.stages.inputs import progress_bar

VERSION = 1
SEED = 0
EPOCHS, BATCH = 10, 64


def settings(config: Config) -> dict[str, Any]:
    """None: the network is always the same."""
    return {}


def run(run: Run) -> dict[str, Any]:
    """Write features.npz: `train` and `targets`, a row an image."""
    from datamodels_inf.training.train import Recipe, train_features
    from pipeline.store.files import save_arrays

    images = run.data.images
    if images is None:
        raise BadInputError(
            'robustness.metric = "features" needs the images; run `datamodels-inf images`, give robustness.embeddings, '
            'or choose robustness.metric = "influence".'
        )
    steps = -(-EPOCHS * len(images.train) // BATCH)
    recipe = Recipe("convnet", hidden=16, steps=steps, learning_rate=0.003, weight_decay=0.001, batch_size=BATCH)
    with progress_bar(steps, "step", "features", run.quiet) as progress:
        train, targets = train_features(
            images.train.astype(np.float32) / np.float32(255),
            images.train_labels,
            images.targets.astype(np.float32) / np.float32(255),
            recipe=recipe,
            seed=SEED,
            n_classes=len(images.class_names),
            progress=progress,
        )
    save_arrays(run.out / "features.npz", {"train": train, "targets": targets})
    return {"n_train": len(train), "n_features": train.shape[1], "steps": steps}


def wanted(config: Config) -> bool:
    """Where look-alikes are asked for by features that do not come from a file."""
    asked = config.robustness
    return asked.wanted and asked.metric == "features" and asked.embeddings is None


def describe(summary: Mapping[str, Any]) -> str:
    return f"{summary['n_features']:,} features of {summary['n_train']:,} images"


STAGE = Stage("features", VERSION, ("download",), settings, run, describe, wanted)
