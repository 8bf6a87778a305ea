"""Train many small classifiers on random subsets of a training set and keep their margins.

Model m starts from its own initial weights and is trained on the images that its mask keeps. Its margin on
every target is the response that a datamodel is fitted to:

    margin(m, target) = logit of the true class - largest other logit.

Softmax regressions and MLPs are trained a block of models at once: a layer is one batched matrix product over
the block and the gradient is written out by hand. Convnets are trained one after the other, because on a CPU
that is faster than grouped convolutions over several models.

Model m gets the same bits in whatever range it is asked for (same machine, same number of threads). Its mask,
initial weights and order of minibatches are drawn from (seed, m) alone, and it is always computed in the same
slot of a block of the same shape, with idle models in the slots that nobody asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datamodels_inf.training import NETWORKS
from datamodels_inf.training.draws import ORDER, WEIGHTS, stream
from datamodels_inf.training.networks import Network, Shape
from datamodels_inf.training.recipe import LastLayer, Recipe

_MAX_BLOCK = 32  # more models at once are hardly faster, and one model alone costs a whole block
_BLOCK_FLOATS = 2**20  # numbers of the images that a block sees at a time, 4 MB: they should stay in the cache
_TILE = 2048  # images of each model that a block is made for; a larger subset is seen tile by tile
_LEAST_TILE = 256  # shorter matrix products are slower than the cache is small
_SHOWN_AT_ONCE = 1024  # images whose features are made together
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8  # Adam's usual constants


def train_margins(
    images: NDArray[np.float32],
    labels: NDArray[np.integer[Any]],
    targets: NDArray[np.float32],
    target_labels: NDArray[np.integer[Any]],
    masks: NDArray[np.bool_],
    *,
    first: int,
    recipe: Recipe,
    seed: int,
    n_classes: int,
    progress: Callable[[int], None] | None = None,
) -> NDArray[np.float32]:
    """Margins of models first, first+1, ..., one for each row of `masks`, on every target.

    `images` and `targets` are (n, features), (n, H, W) or (n, H, W, channels); the convnet needs one of the
    last two. `progress` is called with the number of models finished so far after each block.
    """
    if first < 0:
        raise ValueError("`first` must be at least 0.")
    if n_classes < 2:
        raise ValueError("`n_classes` must be at least 2.")
    images, targets = _checked_images(images, "images"), _checked_images(targets, "targets")
    if images.shape[1:] != targets.shape[1:]:
        raise ValueError("`targets` must have the same shape per image as `images`.")
    if masks.dtype != np.bool_ or masks.ndim != 2 or masks.shape[1] != len(images):
        raise ValueError("`masks` must be boolean, with one row per model and one column per image.")
    truth = _checked_labels(target_labels, len(targets), n_classes, "target_labels")
    one_hot = torch.eye(n_classes)[_checked_labels(labels, len(images), n_classes, "labels")]

    network = NETWORKS[recipe.architecture].build(images.shape[1:], recipe.hidden, n_classes)
    job = _Job(network, recipe, seed, _block_size(recipe, images), network.inputs(images), one_hot)
    shown = network.inputs(targets)
    margins = np.empty((len(masks), len(targets)), dtype=np.float32)
    done = 0
    with torch.no_grad():
        while done < len(masks):
            start = first + done
            stop = min(len(masks), done + job.block - start % job.block)  # at the end of an aligned block
            for models, slots, weights in _train_block(job, masks[done:stop], start):
                margins[models - first] = _margins(network.logits(weights, shown), truth)[slots].numpy()
            done = stop
            if progress is not None:
                progress(done)
    return margins


def train_features(
    images: NDArray[np.float32],
    labels: NDArray[np.integer[Any]],
    others: NDArray[np.float32],
    *,
    recipe: Recipe,
    seed: int,
    n_classes: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the layer before the last of one model, trained on all `images`, makes of each of them, and of `others`.

    `progress` is called with 1 after each step of the training.
    """
    images, others = _checked_images(images, "images"), _checked_images(others, "others")
    one_hot = torch.eye(n_classes)[_checked_labels(labels, len(images), n_classes, "labels")]
    network = NETWORKS[recipe.architecture].build(images.shape[1:], recipe.hidden, n_classes)
    job = _Job(network, recipe, seed, 1, network.inputs(images), one_hot)
    with torch.no_grad():
        ((_, _, weights),) = _train_block(job, np.ones((1, len(images)), np.bool_), 0, progress)
        of_images, of_others = (
            torch.cat([network.features(weights, x) for x in torch.split(inputs, _SHOWN_AT_ONCE)]).numpy()
            for inputs in (job.inputs, network.inputs(others))
        )
    return of_images, of_others


@dataclass(frozen=True)
class _Job:
    """What all blocks share: the network, how it is trained, the training images and one-hot labels."""

    network: Network
    recipe: Recipe
    seed: int
    block: int
    inputs: Tensor
    one_hot: Tensor

    @property
    def tile(self) -> int:
        """Images of each model that are worked on at a time."""
        return max(_LEAST_TILE, _BLOCK_FLOATS // (self.block * math.prod(self.inputs.shape[1:])))


def _train_block(
    job: _Job, masks: NDArray[np.bool_], start: int, progress: Callable[[int], object] | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], list[Tensor]]]:
    """Train models start, start+1, ... of one block; yield their indices, slots and weights.

    Models whose subsets need different capacities are trained apart: the shapes that a model is computed in
    must not depend on the other models of the request.
    """
    capacities = np.array([_capacity(job.recipe, mask) for mask in masks])
    for capacity in np.unique(capacities):
        rows = np.flatnonzero(capacities == capacity)
        models = start + rows
        slots = models % job.block
        theta = _Parameters(job.network.shapes, job.block)
        order = np.zeros((job.block, capacity), dtype=np.int64)
        share = np.zeros((job.block, 1, capacity), dtype=np.float32)
        for row, model, slot in zip(rows.tolist(), models.tolist(), slots.tolist(), strict=True):
            theta.draw(slot, stream(job.seed, model, WEIGHTS), job.recipe.last_layer)
            seen = _order(job, masks[row], model, int(capacity))
            order[slot, : len(seen)] = seen
            share[slot, :, : len(seen)] = 1 / (job.recipe.batch_size or max(1, len(seen)))
        _descend(job, theta, torch.from_numpy(order), torch.from_numpy(share), progress)
        yield models, slots, theta.weights


def _descend(
    job: _Job, theta: _Parameters, order: Tensor, share: Tensor, progress: Callable[[int], object] | None
) -> None:
    """Train theta; `order` holds the images that each model sees and `share` their weights in the loss.

    The loss is a sum over images, so that a step sees them tile by tile and adds the gradients up: what is at work at
    a time stays in the processor's cache however many images there are.
    """
    length = job.recipe.batch_size or order.shape[1]
    tiles = [slice(start, min(start + job.tile, length)) for start in range(0, length, job.tile)]
    for step in range(job.recipe.steps):
        if step == 0 or job.recipe.batch_size is not None:  # else the gathered subsets serve all steps
            part = slice(step * length, (step + 1) * length)
            x, y = job.inputs[order[:, part]], job.one_hot[order[:, part]].mT.contiguous()
            weight = share[:, :, part]
        for tile in tiles:
            out = theta.gradients if tile.start == 0 else theta.spare
            job.network.gradient(theta.weights, out, x[:, tile], y[:, :, tile], weight[:, :, tile])
            if tile.start:
                theta.slope.add_(theta.scratch)
        theta.adam(step, job.recipe)
        if progress is not None:
            progress(1)


def _order(job: _Job, mask: NDArray[np.bool_], model: int, length: int) -> NDArray[np.int64]:
    """The images that one model sees: its subset, or `length` images of shuffles of it for minibatches."""
    subset = np.flatnonzero(mask)
    if job.recipe.batch_size is None or len(subset) == 0:
        return subset
    shuffles = np.tile(subset, (-(-length // len(subset)), 1))
    return stream(job.seed, model, ORDER).permuted(shuffles, axis=1).ravel()[:length]


def _capacity(recipe: Recipe, mask: NDArray[np.bool_]) -> int:
    """Room for the images of one model: a quarter, a half, ... of all images plus 1.5 * sqrt(n_train).

    The slack is three standard deviations of the size of a Bernoulli(1/2) mask, so that nearly all of these
    share one capacity, as masks of a fixed size do. Minibatches need the same room for every mask.
    """
    if recipe.batch_size is not None:
        return recipe.steps * recipe.batch_size
    n_train, size = len(mask), np.count_nonzero(mask)
    rooms = (math.ceil(quarter * n_train / 4 + 1.5 * math.sqrt(n_train)) for quarter in (1, 2, 3))
    return next((room for room in rooms if size <= room <= n_train), n_train)


def _block_size(recipe: Recipe, images: NDArray[np.float32]) -> int:
    """Models in a block: a power of two that the recipe and the size of `images` settle, whatever the masks are."""
    if NETWORKS[recipe.architecture].alone:
        return 1
    n_floats = min(len(images), 2 * _TILE) * math.prod(images.shape[1:])  # a subset is about half of the images
    return min(_MAX_BLOCK, 1 << (max(1, _BLOCK_FLOATS // n_floats).bit_length() - 1))


def _margins(logits: Tensor, truth: Tensor) -> Tensor:
    """True logit minus the largest other logit; `logits` is (models, classes, targets)."""
    index = truth.expand(len(logits), 1, -1)
    others = logits.scatter(1, index, -math.inf)
    return logits.gather(1, index).squeeze(1) - others.amax(dim=1)


class _Parameters:
    """Weights and biases (in turn) of a block of models, with their gradients and Adam's two moments.

    All layers lie in one flat buffer: a step of Adam is a few passes whatever the number of layers.
    """

    def __init__(self, shapes: list[Shape], block: int) -> None:
        sizes = [block * math.prod(shape) for shape in shapes]
        self.flat, self.slope, self.mean, self.square, self.scratch = torch.zeros(5, sum(sizes)).unbind()
        self.weights, self.gradients, self.spare = (
            [part.view(block, *shape) for part, shape in zip(torch.split(buffer, sizes), shapes, strict=True)]
            for buffer in (self.flat, self.slope, self.scratch)
        )

    def draw(self, slot: int, rng: np.random.Generator, last_layer: LastLayer) -> None:
        """Initial weights of one model: N(0, 2 / fan-in), He's law; biases, and with "zero" the last layer, are 0."""
        for weight in self.weights[:-2:2] if last_layer == "zero" else self.weights[::2]:
            values = rng.standard_normal(tuple(weight.shape[1:]), dtype=np.float32)
            weight[slot] = torch.from_numpy(values).mul_(math.sqrt(2 / math.prod(weight.shape[2:])))

    def adam(self, step: int, recipe: Recipe) -> None:
        """theta -= rate * m / (sqrt(v) + eps), the bias corrections of m and v moved to `rate` and `eps`."""
        rate = recipe.learning_rate * (1 - step / recipe.steps)
        correction = math.sqrt(1 - _BETA2 ** (step + 1))
        if recipe.decay == "loss":
            self.slope.add_(self.flat, alpha=recipe.weight_decay)
        else:
            self.flat.mul_(1 - rate * recipe.weight_decay)
        self.mean.lerp_(self.slope, 1 - _BETA1)
        self.square.mul_(_BETA2).addcmul_(self.slope, self.slope, value=1 - _BETA2)
        torch.sqrt(self.square, out=self.scratch).add_(_EPSILON * correction)
        self.flat.addcdiv_(self.mean, self.scratch, value=-rate * correction / (1 - _BETA1 ** (step + 1)))


def _checked_images(images: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    if images.ndim not in (2, 3, 4) or images.size == 0:
        raise ValueError(f"`{name}` must be (n, features), (n, H, W) or (n, H, W, channels), not empty.")
    if not np.isfinite(images).all():
        raise ValueError(f"`{name}` must be finite.")
    return np.asarray(images, dtype=np.float32)


def _checked_labels(labels: NDArray[np.integer[Any]], n: int, n_classes: int, name: str) -> Tensor:
    if labels.shape != (n,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"`{name}` must be one whole number for each image.")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"`{name}` must lie in 0..n_classes-1.")
    return torch.from_numpy(labels.astype(np.int64))
