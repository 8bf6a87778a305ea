"""The section `[train]`: which models `datamodels-inf train` trains, on what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from datamodels_inf.training import NETWORKS
from pipeline.settings.base import Count, FilePath, Section

if TYPE_CHECKING:
    NetworkName: TypeAlias = str
else:
    NetworkName = Literal[tuple(NETWORKS)]


OF_NETWORKS = (
    "architecture", "hidden", "steps", "learning_rate", "weight_decay", "decay", "last_layer", "batch_size",
    "margin_step", "target_class", "of_target_class",
)  # fmt: skip
OF_FUNCTIONS = ("labels", "outcome", "higher_is_better", "retries", "repeatable")
"""Settings that are None by default, so that what does not concern a set is not among its settings."""


class Train(Section):
    """Which models `datamodels-inf train` trains, on what: networks of ours, or whatever a function of yours makes.

    Settings of how a model is trained that are not given are those of the data set's own recipe.
    """

    dataset: Literal["digits", "cifar10"] = "digits"
    """The images that our own networks are trained on."""
    images: FilePath | None = None
    """A copy of CIFAR-10; beside `function`, an `.npz` with pictures of its items. Unset: the store's."""
    n_train: Annotated[int, Field(ge=2, le=100_000_000, strict=True)] = 400
    """Training images, or items."""
    n_targets: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 120
    """What models are asked about: test images, or whatever a function answers for."""
    balanced: bool = False
    """Of CIFAR-10: as many images of each class, from the whole of it; else the first ones."""
    target_class: str | None = None
    """With balanced: a class that has more targets, `of_target_class` of them."""
    of_target_class: Count | None = None
    """With balanced: targets of `target_class`."""
    features: Literal["pixels", "patches"] = "pixels"
    """What models see: pixels, or features of patches, learned without labels from images beyond the set."""
    n_models: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 12_000
    """Models to train."""
    architecture: NetworkName | None = None
    """The network. Unset: that of the data set's own recipe, as for the settings below."""
    hidden: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None
    """Hidden units."""
    steps: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    """Steps of gradient descent."""
    learning_rate: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """The step size at the start."""
    weight_decay: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """The strength of weight decay."""
    decay: Literal["loss", "weights"] | None = None
    """Weight decay as a part of the loss, or of the weights themselves (AdamW)."""
    last_layer: Literal["he", "zero"] | None = None
    """How the last layer starts."""
    batch_size: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    """Images in a step."""
    proportion: float = 0.5
    """The share of the training images that a mask holds."""
    law: Literal["fixed-size", "bernoulli"] = "fixed-size"
    """Masks of one size, or one coin for each image."""
    margin_step: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    """Margins are kept as whole multiples of it. Unset: as float16."""
    seed: Annotated[int, Field(ge=0, lt=2**64, strict=True)] = 0
    """The seed of masks and models."""
    function: str | None = None
    """The "package.module:name" of a function of yours, which trains a model in the place of our networks."""
    labels: FilePath | None = None
    """Beside `function`: a file of classes and names of its items and targets."""
    outcome: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    """Beside `function`: what it returns, a noun such as "margin" or "loss"."""
    higher_is_better: bool | None = None
    """Beside `function`: whether helpers raise the outcome. Unset: not for a "loss" and the like."""
    retries: Annotated[int, Field(ge=0, le=100, strict=True)] | None = None
    """Beside `function`: how often a model that failed is tried again. Unset: 2."""
    repeatable: bool | None = None
    """Beside `function`: whether the same mask and seed must give the same outcomes. Unset: true."""

    @model_validator(mode="after")
    def _is_a_function_or_a_network(self) -> Train:
        names = OF_FUNCTIONS if self.function is None else OF_NETWORKS
        if other := next((name for name in names if getattr(self, name) is not None), None):
            what = "is for train.function" if self.function is None else "is for networks of ours, not for a function"
            raise ValueError(f"train.{other} {what}; leave it out")
        if self.function is not None:
            module, colon, name = self.function.partition(":")
            if not (colon and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))):
                raise ValueError(f"train.function = {self.function!r}: give it as package.module:function")
            if self.dataset != "digits" or self.balanced or self.features != "pixels":
                raise ValueError(
                    "train.dataset, train.balanced and train.features are for networks of ours; leave "
                    "them out beside train.function"
                )
        return self

    @model_validator(mode="after")
    def _belongs_together(self) -> Train:
        if (self.target_class is None) != (self.of_target_class is None):
            raise ValueError("train.target_class and train.of_target_class must both be given, or neither")
        if self.target_class is not None and not self.balanced:
            raise ValueError("train.target_class is for train.balanced = true")
        if self.dataset == "digits" and (self.balanced or self.features != "pixels"):
            raise ValueError("train.balanced and train.features are for train.dataset 'cifar10'")
        if self.features == "patches" and not self.balanced:
            raise ValueError("train.features 'patches' is for train.balanced = true, which leaves images to learn from")
        return self
