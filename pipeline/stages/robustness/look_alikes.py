"""Look-alikes of training images and of targets, by the metric that `[robustness]` names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from datamodels_inf.neighbours.neighbours import Distance, Neighbours, nearest_neighbours, pixel_vectors, share
from pipeline.arrays import map_npy, open_npz
from pipeline.config import Robustness
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels
from pipeline.stages.inputs import Data, Fitted

Kind = Literal["train", "targets"]
Vectors = NDArray[np.floating[Any]]


class Metric(Protocol):
    """Where images lie; `tested` are the targets and training images that the answer is about."""

    cosine: bool

    def vectors(self, kind: Kind, tested_images: Ints, tested_targets: Ints) -> Vectors:
        """A row for each training image, or for each target."""


@dataclass(frozen=True)
class Pixels:
    """L2 distance of pixels, standardised by channel."""

    images: ImageSet
    cosine = False

    def vectors(self, kind: Kind, tested_images: Ints, tested_targets: Ints) -> Vectors:
        """(images, pixels), whatever is tested."""
        return self._train if kind == "train" else pixel_vectors(self.images.targets)

    @cached_property
    def _train(self) -> Vectors:
        """Of all cases the same, and 0.6 GB for CIFAR-10."""
        return pixel_vectors(self.images.train)


@dataclass(frozen=True)
class Features:
    """1 − cos of features; a user's embeddings may lack the targets, which are then compared by θ̂."""

    train: Vectors
    targets: Vectors
    cosine = True

    def vectors(self, kind: Kind, tested_images: Ints, tested_targets: Ints) -> Vectors:
        """(images, features), whatever is tested."""
        return self.train if kind == "train" else self.targets


@dataclass(frozen=True)
class Influence:
    """1 − cos of θ̂: of two images over the targets that are not tested, of two targets over images not tested.

    θ̂ comes from rows that are never tested, so this would be valid anyhow; but an image that was chosen for its weight
    on the very target would agree there by choice.
    """

    fitted: Fitted
    n_targets: int
    cosine = True

    def vectors(self, kind: Kind, tested_images: Ints, tested_targets: Ints) -> Vectors:
        """Rows of θ̂ without tested targets, or columns without tested images; 0 for targets without a fit."""
        weight = self.fitted.first.weight
        if kind == "train":
            return weight[:, ~np.isin(self.fitted.targets, tested_targets)]
        vectors = np.zeros((self.n_targets, len(weight) - len(tested_images)))
        vectors[self.fitted.targets] = np.delete(weight, tested_images, axis=0).T
        return vectors


def metric_of(robustness: Robustness, data: Data, fitted: Fitted, features: Path | None) -> Metric:
    """The metric that `[robustness]` names; `features` is the folder of that stage, if it is wanted."""
    if robustness.metric == "influence":
        return Influence(fitted, data.n_targets)
    if robustness.embeddings is not None:
        influence = Influence(fitted, data.n_targets)
        none = np.zeros(0, np.int64)
        return Features(_embeddings(robustness.embeddings, data.n_train), influence.vectors("targets", none, none))
    if robustness.metric == "features":
        assert features is not None
        with open_npz(features / "features.npz") as arrays:
            return Features(arrays["train"], arrays["targets"])
    if data.images is None:
        raise BadInputError(
            'robustness.metric = "pixels" needs the images; fetch those of CIFAR-10 with `datamodels-inf images`, put '
            'images.npz into a folder of your own (docs/own-data.md), or choose robustness.metric = "influence".'
        )
    return Pixels(data.images)


def _embeddings(path: Path, n_train: int) -> Vectors:
    try:
        array: Vectors = np.array(map_npy(path))
    except (OSError, ValueError) as error:
        raise BadInputError(f"robustness.embeddings {path} is not an .npy file of numbers ({error}).") from error
    if array.ndim != 2 or len(array) != n_train or array.dtype.kind != "f" or 0 in array.shape:
        raise BadInputError(
            f"robustness.embeddings {path} must hold floats of shape ({n_train}, n_features), a row for each training "
            f"image, but it is {array.dtype} {array.shape}."
        )
    if not np.isfinite(array).all():
        raise BadInputError(f"robustness.embeddings {path} holds NaN or infinity.")
    return array


@dataclass(frozen=True)
class LookAlikes:
    """Finds the neighbours of one case; of the same class only if `same_class`."""

    metric: Metric
    labels: Labels | None
    robustness: Robustness

    def of_pair(self, vectors: Vectors, i: int, j: int) -> tuple[Neighbours, Neighbours]:
        """The nearest training images of each of the two, none in common."""
        candidates = [np.setdiff1d(self.same_kind("train", image, len(vectors)), [i, j]) for image in (i, j)]
        k = self.robustness.neighbours
        both = np.intersect1d(candidates[0], candidates[1]).size > 0
        of_i, of_j = (
            self._find(vectors, image, 2 * k if both else k, some, "training image")
            for image, some in zip((i, j), candidates, strict=True)
        )
        return share(of_i, of_j, k) if both else (of_i, of_j)

    def of_target(self, vectors: Vectors, target: int, candidates: Ints) -> Neighbours | None:
        """The nearest of `candidates`, as many as there are; None if there is none."""
        candidates = np.intersect1d(candidates, self.same_kind("targets", target, len(vectors)))
        if self.metric.cosine:
            candidates = candidates[vectors[candidates].any(axis=1)]
        k = min(self.robustness.neighbours, len(np.setdiff1d(candidates, [target])))
        if k == 0 or (self.metric.cosine and not vectors[target].any()):
            return None
        return self._find(vectors, target, k, candidates, "target")

    def same_kind(self, kind: Kind, image: int, count: int) -> Ints:
        """All images of the class of `image`, or simply all."""
        if not self.robustness.same_class:
            return np.arange(count)
        if self.labels is None:
            raise BadInputError(
                "robustness.same_class needs classes, but the source has no labels; give source.labels, or set "
                "robustness.same_class = false."
            )
        labels = self.labels.train_labels if kind == "train" else self.labels.target_labels
        return np.flatnonzero(labels == labels[image])

    def _find(self, vectors: Vectors, image: int, k: int, candidates: Ints, what: str) -> Neighbours:
        distance: Distance = "cosine" if self.metric.cosine else "euclidean"
        try:
            return nearest_neighbours(vectors, image, k, candidates=candidates, distance=distance)
        except ValueError as error:
            if "no direction" in str(error):
                raise BadInputError(
                    f"{what} {image} has no neighbours by robustness.metric = {self.robustness.metric!r}: all its "
                    'numbers are 0. By "influence", it has no weight on the targets that are not tested: fit more '
                    "(fit.targets), or choose another metric."
                ) from error
            others = "others of its class" if self.robustness.same_class else "others"
            usable = np.setdiff1d(candidates, [image])
            if self.metric.cosine:
                usable = usable[vectors[usable].any(axis=1)]
            raise BadInputError(
                f"{what} {image} has {len(usable):,} {others} to choose neighbours from, but {k} are needed: lower "
                "robustness.neighbours, or set robustness.same_class = false."
            ) from error
