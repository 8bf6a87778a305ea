"""Stage 1, download: bring the configured source into the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.config import Config
from pipeline.datasets import ImageSet, load_cifar10
from pipeline.errors import BadInputError
from pipeline.sources import copy_arrays, find_files, fingerprint
from pipeline.stages.context import progress_bar

VERSION = 1


def settings(config: Config) -> dict[str, Any]:
    source = config.source
    return {
        "source.kind": source.kind,
        "source.fit_rows": source.fit_rows,
        "source.held_out_rows": source.held_out_rows,
        "source.content": fingerprint(source),
    }


def run(config: Config, out: Path, quiet: bool) -> dict[str, Any]:
    source = config.source
    with progress_bar(source.fit_rows + source.held_out_rows, "model", "download", quiet) as advance:
        shape = copy_arrays(source, out, advance)
    images = _images(find_files(source).images, shape)
    if images is not None:
        images.save(out / "images.npz")
    return {
        **shape,
        "fit_rows": source.fit_rows,
        "held_out_rows": source.held_out_rows,
        "class_names": list(images.class_names) if images is not None else [],
    }


def _images(path: Path | None, shape: dict[str, int]) -> ImageSet | None:
    """The images, if there are any, checked against the number of columns of masks and margins."""
    if path is None:
        return None
    images = ImageSet.load(path) if path.suffix == ".npz" else load_cifar10(path, shape["n_train"], shape["n_targets"])
    found = len(images.train), len(images.targets)
    wanted = shape["n_train"], shape["n_targets"]
    if found != wanted:
        raise BadInputError(
            f"{path} has {found[0]} training and {found[1]} target images, but masks and margins are of "
            f"{wanted[0]} and {wanted[1]}; give the images of this data set."
        )
    return images
