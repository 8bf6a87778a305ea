"""The section `[train]`: which models `datamodels-inf train` trains, on what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from datamodels_inf.training import NETWORKS
from pipeline.section import Count, FilePath, Section

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
    """Settings of how a model is trained that are not given are those of the data set's own recipe.

    balanced: from the whole of CIFAR-10, as many training images of each class, and as many targets, but
    of_target_class of target_class; else the first images. features: "patches" are learned without labels, from images
    beyond those of the set. margin_step: margins are kept as whole multiples of it.

    function: "package.module:name" of the user's own, which trains a model in the place of our networks; then images
    and labels are files of its items, outcome and higher_is_better say what it returns, retries how often a model that
    failed is tried again (2), and repeatable (true) whether the same mask and seed must give the same outcomes.
    """

    dataset: Literal["digits", "cifar10"] = "digits"
    images: FilePath | None = None
    n_train: Annotated[int, Field(ge=2, le=100_000_000, strict=True)] = 400
    n_targets: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 120
    balanced: bool = False
    target_class: str | None = None
    of_target_class: Count | None = None
    features: Literal["pixels", "patches"] = "pixels"
    n_models: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 12_000
    architecture: NetworkName | None = None
    hidden: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None
    steps: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    learning_rate: Annotated[float, Field(gt=0, le=1e6)] | None = None
    weight_decay: Annotated[float, Field(ge=0, le=1e6)] | None = None
    decay: Literal["loss", "weights"] | None = None
    last_layer: Literal["he", "zero"] | None = None
    batch_size: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    proportion: float = 0.5
    law: Literal["fixed-size", "bernoulli"] = "fixed-size"
    margin_step: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**64, strict=True)] = 0
    function: str | None = None
    labels: FilePath | None = None
    outcome: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    higher_is_better: bool | None = None
    retries: Annotated[int, Field(ge=0, le=100, strict=True)] | None = None
    repeatable: bool | None = None

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
