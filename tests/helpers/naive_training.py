"""One small model after the other in plain torch, and a problem to train them on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from datamodels_inf.training.draws import ORDER, WEIGHTS, draw_masks, stream
from datamodels_inf.training.recipe import Recipe


def small_problem(n: int = 41, n_targets: int = 9, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "images": rng.standard_normal((n, 6, 5, 2)).astype(np.float32),
        "labels": rng.integers(0, 3, n),
        "targets": rng.standard_normal((n_targets, 6, 5, 2)).astype(np.float32),
        "target_labels": rng.integers(0, 3, n_targets),
        "masks": draw_masks(n, 0, 5, seed=seed),
    }


def naive_module(recipe: Recipe, shape: tuple[int, ...], n_classes: int) -> torch.nn.Sequential:
    nn = torch.nn
    if recipe.architecture == "convnet":
        height, width, channels = shape
        flat = 2 * recipe.hidden * math.ceil(height / 4) * math.ceil(width / 4)
        return nn.Sequential(
            nn.Conv2d(channels, recipe.hidden, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(recipe.hidden, 2 * recipe.hidden, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(flat, n_classes),
        )
    features = math.prod(shape)
    if recipe.architecture == "softmax":
        return nn.Sequential(nn.Linear(features, n_classes))
    return nn.Sequential(nn.Linear(features, recipe.hidden), nn.ReLU(), nn.Linear(recipe.hidden, n_classes))


def naive_inputs(recipe: Recipe, images: NDArray[np.float32]) -> torch.Tensor:
    x = torch.tensor(images)
    return x.permute(0, 3, 1, 2) if recipe.architecture == "convnet" else x.flatten(1)


def naive_margins(problem: dict[str, Any], recipe: Recipe, model: int, seed: int) -> list[float]:
    """One model with torch.nn, autograd, torch.optim.Adam or AdamW, and a loop over the targets."""
    module = naive_module(recipe, problem["images"].shape[1:], 3)
    rng = stream(seed, model, WEIGHTS)
    last = list(module.parameters())[-2]
    with torch.no_grad():
        for weight, bias in zip(*[iter(module.parameters())] * 2, strict=True):
            bias.zero_()
            if recipe.last_layer == "zero" and weight is last:
                weight.zero_()
                continue
            values = rng.standard_normal(tuple(weight.shape), dtype=np.float32)
            weight.copy_(torch.tensor(values) * math.sqrt(2 / weight[0].numel()))
    kept = np.flatnonzero(problem["masks"][model])
    size = recipe.batch_size or len(kept)
    if recipe.batch_size is None:
        order = np.tile(kept, recipe.steps)
    else:
        shuffles = np.tile(kept, (-(-recipe.steps * size // len(kept)), 1))
        order = stream(seed, model, ORDER).permuted(shuffles, axis=1).ravel()
    x, y = naive_inputs(recipe, problem["images"]), torch.tensor(problem["labels"])
    kind = torch.optim.AdamW if recipe.decay == "weights" else torch.optim.Adam
    adam = kind(module.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, betas=(0.9, 0.999))
    schedule = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: 1 - step / recipe.steps)
    for step in range(recipe.steps):
        seen = order[step * size : (step + 1) * size]
        adam.zero_grad()
        torch.autograd.backward(torch.nn.functional.cross_entropy(module(x[seen]), y[seen]))
        adam.step()
        schedule.step()
    logits = module(naive_inputs(recipe, problem["targets"])).tolist()
    return [
        row[truth] - max(value for label, value in enumerate(row) if label != truth)
        for row, truth in zip(logits, problem["target_labels"], strict=True)
    ]
