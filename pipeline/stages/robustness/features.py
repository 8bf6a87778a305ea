"""Features of all images, for look-alikes: what a network sees that is trained here on the whole training set."""

from __future__ import annotations

import numpy as np

from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.stages.base import Run, Stage
from pipeline.summaries import FeaturesSummary

VERSION = 2
SEED = 0
EPOCHS, BATCH = 10, 64


def left_out(config: Config) -> dict[str, str]:
    """All: the network is always the same."""
    images = "the key of the download stage holds the images"
    return {
        "source": images,
        **dict.fromkeys(("fit", "test", "atlas", "robustness", "report"), "the network is always the same"),
    }


def run(run: Run) -> FeaturesSummary:
    """Write features.npz: `train` and `targets`, a row an image."""
    from datamodels_inf.training.recipe import Recipe
    from datamodels_inf.training.train import train_features
    from pipeline.store.files import save_arrays

    images = run.data.images
    if images is None or images.known_labels is None:
        raise BadInputError(
            'robustness.metric = "features" needs images with labels; fetch those of CIFAR-10 with `datamodels-inf '
            "images`, put images.npz into a folder of your own (docs/own-data.md), give robustness.embeddings, or "
            'choose robustness.metric = "influence".'
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
    return FeaturesSummary(n_train=len(train), n_features=train.shape[1], steps=steps)


def wanted(config: Config) -> bool:
    """Where look-alikes are asked for by features that do not come from a file."""
    asked = config.robustness
    return asked.wanted and asked.metric == "features" and asked.embeddings is None


STAGE = Stage("features", VERSION, ("download",), FeaturesSummary, run, left_out, wanted=wanted)
