"""Kinds of decay, last layers that start from zero, and subsets seen tile by tile: against plain torch and one tile."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from naive_training import naive_margins, small_problem
from numpy.typing import NDArray

from datamodels_inf.training import train
from datamodels_inf.training.draws import Law, draw_masks
from datamodels_inf.training.networks import Mlp
from datamodels_inf.training.recipe import Decay, LastLayer, Recipe
from datamodels_inf.training.train import train_margins

NETWORKS = {
    "softmax": Recipe("softmax", steps=12),
    "mlp": Recipe("mlp", hidden=7, steps=12),
    "mlp, minibatches": Recipe("mlp", hidden=7, steps=12, batch_size=20),
    "convnet": Recipe("convnet", hidden=3, steps=8, learning_rate=0.01),
}
each_network = pytest.mark.parametrize("recipe", NETWORKS.values(), ids=NETWORKS.keys())


def run(problem: dict[str, Any], recipe: Recipe, first: int = 0) -> NDArray[np.float32]:
    return train_margins(**problem, first=first, recipe=recipe, seed=7, n_classes=3)


# -------------------------------------------------------------------------------- decay and the last layer


@each_network
@pytest.mark.parametrize(("decay", "last_layer"), list(product(("loss", "weights"), ("he", "zero"))))
def test_whole_trainings_agree_with_plain_torch(recipe: Recipe, decay: Decay, last_layer: LastLayer) -> None:
    """torch.optim.Adam or AdamW, with a linear schedule; a decay that is not seen would be."""
    recipe = replace(recipe, decay=decay, last_layer=last_layer, weight_decay=2.0 if decay == "weights" else 0.05)
    problem = small_problem()
    expected = [naive_margins(problem, recipe, model, seed=7) for model in range(5)]
    np.testing.assert_allclose(run(problem, recipe), expected, atol=1e-4, rtol=1e-4)


@each_network
def test_the_choices_matter(recipe: Recipe) -> None:
    """So that the test above would notice one that is not obeyed."""
    problem = small_problem()
    recipes = [
        replace(recipe, weight_decay=0.5, decay=d, last_layer=s)
        for d, s in product(("loss", "weights"), ("he", "zero"))
    ]
    margins = [run(problem, each) for each in recipes]
    for k, found in enumerate(margins):
        assert all(np.abs(found - other).max() > 0.01 for other in margins[:k])


def test_a_last_layer_from_zero_gives_margins_of_zero_until_the_first_step() -> None:
    """With a rate too small to move anything, all logits are still alike."""
    problem = small_problem()
    for name in ("mlp", "softmax", "convnet"):
        recipe = replace(NETWORKS[name], steps=1, learning_rate=1e-30)
        assert np.abs(run(problem, replace(recipe, last_layer="zero"))).max() < 1e-20
        assert np.abs(run(problem, recipe)).max() > 0.1


def test_a_last_layer_of_zeros_sends_nothing_back() -> None:
    """What `Mlp.gradient` leaves out is what the whole product would give, for a block with other models too."""
    rng = np.random.default_rng(0)
    network = Mlp(6, 4, 3)
    weights = [torch.tensor(rng.standard_normal((2, *shape)), dtype=torch.float32) for shape in network.shapes]
    weights[2][0] = 0
    x, y = torch.randn(2, 9, 6), torch.eye(3)[torch.arange(9) % 3].mT.expand(2, -1, -1)
    share = torch.full((2, 1, 9), 1 / 9)
    both = [torch.full_like(weight, torch.nan) for weight in weights]
    network.gradient(weights, both, x, y, share)
    alone = [torch.full_like(weight[:1], torch.nan) for weight in weights]
    network.gradient([weight[:1] for weight in weights], alone, x[:1], y[:1], share[:1])
    for part, other in zip(both, alone, strict=True):
        torch.testing.assert_close(part[:1], other)
    assert both[0][1].any()
    assert not both[0][0].any()


# ------------------------------------------------------------------------------------------------- tiles


def in_tiles(monkeypatch: pytest.MonkeyPatch, tile: int) -> None:
    """A block of 4 small models that sees `tile` images of each at a time; an image of the problem has 60 numbers."""
    monkeypatch.setattr(train, "_LEAST_TILE", 1)
    monkeypatch.setattr(train, "_TILE", tile)
    monkeypatch.setattr(train, "_BLOCK_FLOATS", 4 * 2 * tile * 60)
    monkeypatch.setattr(train, "_MAX_BLOCK", 4)


def seen_at_a_time(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The numbers of images that gradients are asked for."""
    found: set[int] = set()
    whole = Mlp.gradient

    def noted(self: Mlp, weights: Any, out: Any, x: torch.Tensor, *rest: Any) -> None:
        found.add(x.shape[1])
        whole(self, weights, out, x, *rest)

    monkeypatch.setattr(Mlp, "gradient", noted)
    return found


@each_network
@pytest.mark.parametrize(("decay", "last_layer"), [("loss", "he"), ("weights", "zero")])
def test_tiles_change_nothing_but_rounding(
    recipe: Recipe, decay: Decay, last_layer: LastLayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, recipe = small_problem(), replace(recipe, decay=decay, last_layer=last_layer)
    whole = run(problem, recipe)
    in_tiles(monkeypatch, 3)
    np.testing.assert_allclose(run(problem, recipe), whole, atol=1e-4, rtol=1e-4)


def test_a_large_subset_is_seen_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = seen_at_a_time(monkeypatch)
    run(small_problem(), NETWORKS["mlp"])
    assert seen == {20}  # ⌈41 / 4 + 1.5 √41⌉, which half of 41 images fits into
    seen.clear()
    in_tiles(monkeypatch, 3)
    run(small_problem(), NETWORKS["mlp"])
    assert seen == {6, 2}


@each_network
@pytest.mark.parametrize("law", ["fixed-size", "bernoulli"])
def test_a_model_gets_the_same_bits_in_every_range_with_tiles(
    recipe: Recipe, law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_tiles(monkeypatch, 3)
    problem = small_problem()
    masks = draw_masks(41, 0, 11, seed=3, law=law)  # three blocks of 4; a convnet is its own block
    whole = run(problem | {"masks": masks}, recipe)
    for first, last in [(3, 5), (8, 11), (10, 11), (1, 9)]:
        np.testing.assert_array_equal(run(problem | {"masks": masks[first:last]}, recipe, first), whole[first:last])


@pytest.mark.parametrize(("n_train", "features", "block", "tile"), [
    (400, 64, 32, 512),  # the embedded digits
    (2_000, 256, 2, 2048),  # the CIFAR-10 study
    (50_000, 256, 1, 4096),
    (50_000, 3072, 1, 341),
])  # fmt: skip
def test_blocks_and_tiles_do_not_grow_with_the_images(n_train: int, features: int, block: int, tile: int) -> None:
    images = np.broadcast_to(np.float32(0), (n_train, features))
    found = train._block_size(Recipe(), images)
    job = train._Job(Mlp(features, 1, 2), Recipe(), 0, found, torch.empty(1, features), torch.empty(1, 2))
    assert (found, job.tile) == (block, tile)
