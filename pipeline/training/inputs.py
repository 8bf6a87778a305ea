"""What models are trained and judged on: pixels, or features that were made once and are kept."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels, as_float, read_arrays, readable
from pipeline.store.files import save_arrays
from pipeline.training.job import Job

FEATURE_FILE = "features.npz"
FEATURE_ARRAYS = ("train", "targets", "train_numbers", "target_numbers")


@dataclass(frozen=True, eq=False)
class Inputs:
    """Numbers of training images and targets, (n, features) or (n, H, W[, channels]) float32, with their labels."""

    train: NDArray[np.float32]
    targets: NDArray[np.float32]
    labels: Labels

    @classmethod
    def of_pixels(cls, images: ImageSet) -> Inputs:
        """`as_float` of the images."""
        return cls(as_float(images.train), as_float(images.targets), images.labels)


@dataclass(frozen=True, eq=False)
class Features:
    """Features of a set's images in float16, with labels and, of CIFAR-10, which of its images they are.

    train_numbers and target_numbers are positions in its training and test set in their default order; empty where the
    images are of another set.
    """

    train: NDArray[np.float16]
    targets: NDArray[np.float16]
    labels: Labels
    train_numbers: NDArray[np.int64]
    target_numbers: NDArray[np.int64]

    def save(self, path: Path) -> None:
        """Write an .npz that `load` and `Labels.load` read."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in FEATURE_ARRAYS}
        arrays |= {name: np.asarray(value) for name, value in vars(self.labels).items()}
        save_arrays(path, arrays)

    @classmethod
    def load(cls, path: Path) -> Features:
        """Read what `save` wrote; anything else is a `BadInputError`."""
        labels = Labels.load(path)
        with readable(path, "set of features"):
            train, targets, train_numbers, target_numbers = read_arrays(path, FEATURE_ARRAYS)
            _check_part(train, train_numbers, len(labels.train_labels))
            _check_part(targets, target_numbers, len(labels.target_labels))
            if train.shape[1] != targets.shape[1]:
                raise ValueError("its training images and targets have different features")
            return cls(train, targets, labels, train_numbers, target_numbers)
        raise AssertionError("unreachable")

    @property
    def inputs(self) -> Inputs:
        """What models see."""
        return Inputs(self.train.astype(np.float32), self.targets.astype(np.float32), self.labels)


def _check_part(features: NDArray[Any], numbers: NDArray[Any], n_labels: int) -> None:
    if features.dtype != np.float16 or features.ndim != 2 or len(features) != n_labels:
        raise ValueError("its features are not float16, a row for each label")
    if not np.isfinite(features).all():
        raise ValueError("its features are not all finite")
    if numbers.dtype != np.int64 or numbers.shape not in ((0,), (n_labels,)):
        raise ValueError("its numbers of images are not int64, one for each label or none")


def read_inputs(path: Path, job: Job) -> Inputs:
    """What the models of a job see, from the file of its features or images."""
    made = Features.load(path).inputs if job.features is not None else Inputs.of_pixels(ImageSet.load(path))
    if (len(made.train), len(made.targets)) != (job.n_train, job.n_targets):
        raise BadInputError(f"{path} has other numbers of images than its manifest; get the set again.")
    return made


def images_digest(images: ImageSet) -> str:
    """Of all pixels and labels, so that work on other images is not taken for a job's."""
    arrays = (images.train, images.train_labels, images.targets, images.target_labels)
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
