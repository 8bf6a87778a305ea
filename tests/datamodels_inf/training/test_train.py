"""Batched training: against a naive torch reference, bit for bit across ranges, and on real digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from naive_training import naive_margins, small_problem
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from datamodels_inf.training.draws import Law, draw_masks
from datamodels_inf.training.recipe import Recipe
from datamodels_inf.training.train import train_margins

RECIPES = {
    "softmax": Recipe("softmax", steps=12),
    "mlp": Recipe("mlp", hidden=7, steps=12),
    "mlp, minibatches": Recipe("mlp", hidden=7, steps=12, batch_size=5),
    "mlp, AdamW from zero": Recipe("mlp", hidden=7, steps=12, weight_decay=2.0, decay="weights", last_layer="zero"),
    "convnet": Recipe("convnet", hidden=3, steps=8, learning_rate=0.01),
    "convnet, minibatches": Recipe("convnet", hidden=3, steps=8, learning_rate=0.01, batch_size=5),
}

each_recipe = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())


def run(problem: dict[str, Any], recipe: Recipe = RECIPES["mlp"], **changes: Any) -> NDArray[np.float32]:
    options: dict[str, Any] = {"first": 0, "recipe": recipe, "seed": 7, "n_classes": 3} | problem | changes
    return train_margins(**options)


@each_recipe
def test_agrees_with_one_model_at_a_time_in_plain_torch(recipe: Recipe) -> None:
    problem = small_problem()
    expected = [naive_margins(problem, recipe, model, seed=7) for model in range(5)]
    np.testing.assert_allclose(run(problem, recipe), expected, atol=1e-4, rtol=1e-4)


# ------------------------------------------------------------------------------------------------- determinism


@each_recipe
@pytest.mark.parametrize("law", ["fixed-size", "bernoulli"])
def test_a_model_gets_the_same_bits_in_every_range(recipe: Recipe, law: Law) -> None:
    problem = small_problem()
    n_models = 8 if recipe.architecture == "convnet" else 70  # three blocks of 32; a convnet is its own block
    masks = draw_masks(41, 0, n_models, seed=3, law=law)
    whole = run(problem, recipe, masks=masks)
    for first, last in [(64, 70), (31, 33), (69, 70), (0, 1), (5, 64), (6, 8)]:
        again = run(problem, recipe, masks=masks[first:last], first=first)
        np.testing.assert_array_equal(again, whole[first:last])


@pytest.mark.parametrize(("law", "threads"), [("fixed-size", 1), ("bernoulli", 1), ("bernoulli", 2)])
def test_the_same_bits_at_the_size_of_the_digits_problem(law: Law, threads: int) -> None:
    """Matrix products take other paths through the BLAS when they are large or there are more threads."""
    torch.set_num_threads(threads)
    masks = draw_masks(400, 0, 40, seed=3, law=law)
    recipe = Recipe(steps=5)
    whole = digits_margins(masks, recipe)
    for first, last in [(33, 40), (17, 18), (3, 35)]:
        again = digits_margins(masks[first:last], recipe, first=first)
        np.testing.assert_array_equal(again, whole[first:last])


def test_models_of_other_seeds_and_indices_differ() -> None:
    problem = small_problem()
    problem["masks"] = np.repeat(problem["masks"][:1], 2, axis=0)
    margins = run(problem)
    assert not np.allclose(margins[0], margins[1])
    assert not np.allclose(margins, run(problem, seed=8))


def test_progress_counts_finished_models_and_global_state_is_left_alone() -> None:
    problem = small_problem()
    before = torch.get_num_threads(), torch.is_grad_enabled(), torch.get_rng_state().tolist()
    calls: list[int] = []
    run(problem, masks=draw_masks(41, 30, 70, seed=0), first=30, progress=calls.append)
    assert calls == [2, 34, 40]
    assert before == (torch.get_num_threads(), torch.is_grad_enabled(), torch.get_rng_state().tolist())


@each_recipe
def test_images_outside_the_mask_have_no_influence(recipe: Recipe) -> None:
    problem = small_problem()
    mask = problem["masks"][:1]
    changed = problem["images"].copy(), problem["labels"].copy()
    changed[0][~mask[0]] = 99.0
    changed[1][~mask[0]] = 0
    expected = run(problem, recipe, masks=mask)
    np.testing.assert_array_equal(run(problem, recipe, masks=mask, images=changed[0], labels=changed[1]), expected)
    inside = problem["images"].copy()
    inside[mask[0]] += 0.1
    assert not np.array_equal(run(problem, recipe, masks=mask, images=inside), expected)


@each_recipe
def test_empty_full_and_one_class_masks_give_finite_margins(recipe: Recipe) -> None:
    problem = small_problem()
    masks = np.zeros((4, 41), dtype=np.bool_)
    masks[1] = True
    masks[2] = problem["labels"] == 1
    masks[3, 6] = True
    assert np.isfinite(run(problem, recipe, masks=masks)).all()
    assert run(problem, recipe, masks=masks[:0]).shape == (0, 9)


# -------------------------------------------------------------------------------------------------- real data


def digits_margins(masks: NDArray[np.bool_], recipe: Recipe, first: int = 0) -> NDArray[np.float32]:
    """Margins on 200 digits of models trained on subsets of as many digits as the masks have columns."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = (images[order] / 16).astype(np.float32).reshape(-1, 8, 8), labels[order]
    n = masks.shape[1]
    return train_margins(
        images[:n],
        labels[:n],
        images[-200:],
        labels[-200:],
        masks,
        first=first,
        recipe=recipe,
        seed=0,
        n_classes=10,
    )


@pytest.mark.parametrize(
    ("recipe", "least"),
    [
        (Recipe(), 0.9),
        (Recipe("softmax", learning_rate=0.1), 0.88),
        (Recipe("convnet", 8, 150, 0.01, batch_size=32), 0.88),
    ],
    ids=["mlp", "softmax", "convnet"],
)
def test_models_trained_on_half_of_400_digits_are_accurate(recipe: Recipe, least: float) -> None:
    margins = digits_margins(draw_masks(400, 0, 8, seed=0), recipe)
    assert margins.dtype == np.float32
    assert (margins > 0).mean() > least


def test_a_linear_model_of_the_mask_explains_the_margins() -> None:
    """Held-out R² of ridge regressions from masks to margins, on a training set small enough for a test."""
    masks = draw_masks(60, 0, 1500, seed=0)
    margins = digits_margins(masks, Recipe())
    x, y = masks[:1000] - 0.5, margins[:1000]
    theta = np.linalg.solve(x.T @ x + 10 * np.eye(60), x.T @ (y - y.mean(axis=0)))
    left = margins[1000:] - y.mean(axis=0) - (masks[1000:] - 0.5) @ theta
    assert np.mean(1 - left.var(axis=0) / margins[1000:].var(axis=0)) > 0.5


# -------------------------------------------------------------------------------------------------- bad input

NAN_IMAGES = np.full((41, 6, 5, 2), np.nan, dtype=np.float32)
FLAT = {"images": np.zeros((41, 60), np.float32), "targets": np.zeros((9, 60), np.float32)}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"images": NAN_IMAGES}, "`images` must be finite"),
        ({"images": np.zeros(41, np.float32)}, r"`images` must be \(n, features\)"),
        ({"targets": np.full((9, 6, 5, 2), np.inf, np.float32)}, "`targets` must be finite"),
        ({"targets": np.zeros((9, 6, 5, 1), np.float32)}, "`targets` must have the same shape per image"),
        ({"labels": np.zeros(40, np.int64)}, "`labels` must be one whole number for each image"),
        ({"labels": np.zeros(41)}, "`labels` must be one whole number for each image"),
        ({"labels": np.full(41, 3)}, r"`labels` must lie in 0\.\.n_classes-1"),
        ({"target_labels": np.full(9, -1)}, r"`target_labels` must lie in 0\.\.n_classes-1"),
        ({"masks": np.ones((2, 41))}, "`masks` must be boolean"),
        ({"masks": np.ones((2, 40), np.bool_)}, "`masks` must be boolean"),
        ({"first": -1}, "`first` must be at least 0"),
        ({"n_classes": 1}, "`n_classes` must be at least 2"),
        ({"seed": -1}, "`seed` must be a whole number from 0"),
        ({"recipe": RECIPES["convnet"], **FLAT}, r"`images` must be \(n, H, W\)"),
    ],
)
def test_bad_training_input_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        run(small_problem(), **changes)
