"""A set that `datamodels-inf train` made: a folder of packed masks, margins and images, with a manifest."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.sources.array_files import Files

FORMAT = "datamodels-inf source 1"


def trained_files(folder: Path, images: Path | None) -> Files:
    """The files of such a folder, which has a manifest.json; `images` are taken instead of its own."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        known = manifest["format"] == FORMAT
        n_train, digests = int(manifest["job"]["n_train"]), dict(manifest["sha256"])
    except (ValueError, KeyError, TypeError):
        known, n_train, digests = False, 0, {}
    if not known:
        raise BadInputError(
            f"{folder / 'manifest.json'} is not one that datamodels-inf train wrote; make the set again."
        )
    return Files(
        folder / "masks.npy",
        folder / "margins.npy",
        n_train,
        images or folder / "images.npz",
        digests={folder / name: digest for name, digest in digests.items()},
        completed=completed_file(folder),
    )


def completed_file(folder: Path) -> Path | None:
    """What the trainers leave beside the masks: whether each model was trained to its end."""
    path = folder / "_completed.npy"
    return path if path.is_file() else None
