"""Features of all images, for look-alikes: what a network sees that is trained here on the whole training set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.inputs import Data, progress_bar

VERSION = 1
SEED = 0
EPOCHS, BATCH = 10, 64


def settings(config: Config) -> dict[str, Any]:
    """None: the network is always the same."""
    return {}


def run(data: Data, out: Path, *, quiet: bool) -> dict[str, Any]:
    """Write features.npz: `train` and `targets`, a row an image."""
    from datamodels_inf.training.train import Recipe, train_features
    from pipeline.store.files import save_arrays

    images = data.images
    if images is None:
        raise BadInputError(
            'robustness.metric = "features" needs the images; run `datamodels-inf images`, give robustness.embeddings, '
            'or choose robustness.metric = "influence".'
        )
    steps = -(-EPOCHS * len(images.train) // BATCH)
    recipe = Recipe("convnet", hidden=16, steps=steps, learning_rate=0.003, weight_decay=0.001, batch_size=BATCH)
    with progress_bar(steps, "step", "features", quiet) as progress:
        train, targets = train_features(
            images.train.astype(np.float32) / np.float32(255),
            images.train_labels,
            images.targets.astype(np.float32) / np.float32(255),
            recipe=recipe,
            seed=SEED,
            n_classes=len(images.class_names),
            progress=progress,
        )
    save_arrays(out / "features.npz", {"train": train, "targets": targets})
    return {"n_train": len(train), "n_features": train.shape[1], "steps": steps}
