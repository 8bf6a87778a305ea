"""How models are trained, and how the features are made that they see. Without torch, which is slow to import."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from datamodels_inf.training import NETWORKS

Decay = Literal["loss", "weights"]
LastLayer = Literal["he", "zero"]


@dataclass(frozen=True)
class Recipe:
    """How a model is trained: Adam on mean cross-entropy of its subset + weight_decay / 2 * |weights|^2.

    The learning rate falls linearly from `learning_rate` to zero over the steps. `hidden` is the width of the
    MLP or the number of channels of the convnet's first layer. With `batch_size` None every step sees the
    whole subset; else it sees the next `batch_size` images of an endless series of shuffles of the subset.
    With `decay` "weights" the loss is the cross-entropy alone, and each step also takes rate * weight_decay of the
    weights away (AdamW). `last_layer` "zero" starts the last layer from zero and not from He's law.

    The defaults suit a few hundred 8 x 8 digits. For a few thousand CIFAR-10 images try
    Recipe("convnet", hidden=16, steps=300, learning_rate=0.003, weight_decay=0.01, batch_size=64).
    """

    architecture: str = "mlp"
    hidden: int = 32
    steps: int = 60
    learning_rate: float = 0.05
    weight_decay: float = 0.01
    batch_size: int | None = None
    decay: Decay = "loss"
    last_layer: LastLayer = "he"

    def __post_init__(self) -> None:
        if self.architecture not in NETWORKS:
            raise ValueError(f"`architecture` must be one of {', '.join(NETWORKS)}.")
        for name in ("hidden", "steps", "batch_size"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1) and (name, value) != ("batch_size", None):
                raise ValueError(f"`{name}` must be a whole number of at least 1.")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError("`learning_rate` must be a positive number.")
        if not 0 <= self.weight_decay < math.inf:
            raise ValueError("`weight_decay` must be zero or a positive number.")
        for name, kinds in (("decay", Decay), ("last_layer", LastLayer)):
            if getattr(self, name) not in get_args(kinds):
                raise ValueError(f"`{name}` must be one of {', '.join(get_args(kinds))}.")


@dataclass(frozen=True)
class PatchRecipe:
    """How features are made; the defaults are those of the CIFAR-10 study.

    patch: side of a patch, in pixels. n_patches: from how many, drawn from all images, whitening and centroids are
    learned. n_images: from how many images the components are learned. n_centroids: K. rounds: of k-means, at most.
    """

    patch: int = 6
    n_patches: int = 200_000
    n_images: int = 5_000
    n_centroids: int = 256
    rounds: int = 20
    threshold: float = 0.25
    n_components: int = 256
    power: float = 0.2

    def __post_init__(self) -> None:
        for name in ("patch", "n_patches", "n_images", "n_centroids", "rounds", "n_components"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1):
                raise ValueError(f"`{name}` must be a whole number of at least 1.")
        for name in ("threshold", "power"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"`{name}` must be zero or a positive number.")
        if self.n_centroids > self.n_patches:
            raise ValueError("`n_centroids` must be at most `n_patches`.")
        if self.n_components > 8 * self.n_centroids:
            raise ValueError("`n_components` must be at most 8 * `n_centroids`.")
        if self.n_components >= self.n_images:
            raise ValueError("`n_components` must be less than `n_images`: so many have no more components.")
