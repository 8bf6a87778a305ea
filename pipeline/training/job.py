"""Everything that the margins of a set depend on, as its manifest holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from datamodels_inf.training.patch_features import PatchRecipe
from datamodels_inf.training.train import Law, Recipe


@dataclass(frozen=True)
class Job:
    """features: how they were made of the images; None where models see pixels. margin_step: margins are kept as whole
    multiples of it; None for float16."""

    dataset: str
    n_train: int
    n_targets: int
    images_sha256: str
    n_models: int
    recipe: Recipe
    seed: int
    proportion: float
    law: Law
    features: PatchRecipe | None = None
    margin_step: float | None = None

    def as_json(self) -> dict[str, Any]:
        """For a manifest."""
        return asdict(self)

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Job:
        """From a manifest, older ones included, which lack what has a default; else a ValueError."""
        try:
            features = found.get("features")
            parts = {
                "recipe": Recipe(**found["recipe"]),
                "features": None if features is None else PatchRecipe(**features),
            }
            return cls(**{**found, **parts})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError("it is no job of `train`") from error
