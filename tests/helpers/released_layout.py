"""A folder as MadryLab releases it, from a planted law, and the settings of a run on it."""

import numpy as np
import torch


def released(folder, n=300, d=24, targets=8, coding="signed", seed=0):
    """A folder in MadryLab's layout, with weights and labelled images, from a planted linear law."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n, d)) < 0.5
    weight = rng.standard_normal((d, targets)) / 2
    margins = masks @ weight + 0.5 * rng.standard_normal((n, targets)) + 2
    (folder / "data").mkdir(parents=True)
    (folder / "datamodels").mkdir()
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    saved = (weight / 2, 2 + weight.sum(0) / 2) if coding == "signed" else (weight, np.full(targets, 2.0))
    content = {
        "weight": torch.tensor(saved[0]).float(),
        "bias": torch.tensor(saved[1]).float(),
        "lam": torch.ones(targets),
    }
    torch.save(content, folder / "datamodels" / "test_50pct.pt")
    from pipeline.images.image_set import ImageSet

    images = rng.integers(0, 256, (d, 6, 6, 3)).astype(np.uint8), np.arange(d) % 2
    shown = rng.integers(0, 256, (targets, 6, 6, 3)).astype(np.uint8), np.arange(targets) % 2
    ImageSet(*images, *shown, ("cat", "dog")).save(folder / "images.npz")
    return weight


FILES = (
    "--set", "source.kind=files", "--set", "source.folder=cifar", "--set", "source.images=cifar/images.npz",
    "--set", "source.fit_rows=200", "--set", "source.held_out_rows=100",
    "--set", "test.target_class=dog", "--set", "test.repeats=3", "--set", "report.name=digits",
)  # fmt: skip
LOAD = ("--set", "fit.mode=load", "--set", "fit.file=cifar/datamodels/test_50pct.pt")


def harm_masks(folder):
    masks = np.load(folder / "data" / "train_masks_50pct.npy")
    masks[:, 5] = True
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
