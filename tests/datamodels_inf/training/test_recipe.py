"""Recipes refuse what nothing can be trained by, and do without torch."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest

from datamodels_inf.training.recipe import PatchRecipe, Recipe


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"architecture": "resnet"}, "`architecture` must be one of softmax, mlp, convnet"),
        ({"hidden": 0}, "`hidden` must be a whole number of at least 1"),
        ({"steps": 1.5}, "`steps` must be a whole number of at least 1"),
        ({"steps": None}, "`steps` must be a whole number of at least 1"),
        ({"batch_size": 0}, "`batch_size` must be a whole number of at least 1"),
        ({"learning_rate": 0.0}, "`learning_rate` must be a positive number"),
        ({"learning_rate": math.nan}, "`learning_rate` must be a positive number"),
        ({"weight_decay": -1.0}, "`weight_decay` must be zero or a positive number"),
        ({"decay": "both"}, "`decay` must be one of loss, weights"),
        ({"last_layer": None}, "`last_layer` must be one of he, zero"),
    ],
)
def test_bad_recipe_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Recipe(**changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"patch": 0}, "`patch` must be a whole number of at least 1"),
        ({"n_patches": 2.5}, "`n_patches` must be a whole number of at least 1"),
        ({"rounds": 0}, "`rounds` must be a whole number of at least 1"),
        ({"n_centroids": 401}, "`n_centroids` must be at most `n_patches`"),
        ({"n_components": 33, "n_images": 50}, r"`n_components` must be at most 8 \* `n_centroids`"),
        ({"n_components": 30}, "`n_components` must be less than `n_images`"),
        ({"threshold": -0.1}, "`threshold` must be zero or a positive number"),
        ({"power": math.nan}, "`power` must be zero or a positive number"),
    ],
)
def test_a_bad_recipe_of_features_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PatchRecipe(**({"n_patches": 400, "n_images": 30, "n_centroids": 4, "n_components": 6} | changes))


def test_a_run_that_trains_nothing_does_not_import_torch():
    """Nor what else is slow and not always needed: a second and a half of every command."""
    loaded = "import sys, pipeline.run; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True)
    assert "pipeline.stages.fresh.stage" in done.stdout.split()
    assert not {"torch", "numba", "pandas", "scipy.stats", "matplotlib", "pyarrow"} & set(done.stdout.split())
