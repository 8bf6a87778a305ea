"""The networks that can be trained: their shapes, logits and gradients, for a block of models at once.

The gradient is written out by hand where one batched matrix product serves all models of a block.
"""

from __future__ import annotations

import math
from typing import Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

Shape: TypeAlias = tuple[int, ...]


class Network(Protocol):
    """A kind of model; every tensor of weights has the models of the block as its first axis."""

    shapes: list[Shape]  # of one model: weights and biases in turn

    def inputs(self, images: NDArray[np.float32]) -> Tensor:
        """The images in the layout that the other two methods read."""

    def logits(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """(models, classes, images), for images that all models share."""

    def features(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """(images, features): what the last layer of a block of one model sees."""

    def gradient(self, weights: list[Tensor], out: list[Tensor], x: Tensor, y: Tensor, share: Tensor) -> None:
        """Write the gradient of sum(share * cross-entropy) to `out`; each model has images of its own."""


class Softmax:
    """logits = W x + b. With G = share * (softmax(logits) - y) the gradients are G x' and the sums of G."""

    def __init__(self, features: int, n_classes: int) -> None:
        self.shapes: list[Shape] = [(n_classes, features), (n_classes, 1)]

    def inputs(self, images: NDArray[np.float32]) -> Tensor:
        """(images, features): the numbers of an image in one row."""
        return torch.tensor(images.reshape(len(images), -1))

    def logits(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """W x + b, one batched product for all models."""
        W, b = weights
        return torch.baddbmm(b, W, x.mT.expand(len(W), -1, -1))

    def features(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """The images themselves: the only layer is the last."""
        return x

    def gradient(self, weights: list[Tensor], out: list[Tensor], x: Tensor, y: Tensor, share: Tensor) -> None:
        """G x' and the sums of G, one batched product for all models."""
        W, b = weights
        _layer_gradient(torch.baddbmm(b, W, x.mT).softmax(dim=1).sub_(y).mul_(share), x, out)


class Mlp(Softmax):
    """logits = W2 h + b2 with h = relu(W1 x + b1); G of the hidden layer is (W2' G) * 1{h > 0}."""

    def __init__(self, features: int, hidden: int, n_classes: int) -> None:
        self.shapes = [(hidden, features), (hidden, 1), (n_classes, hidden), (n_classes, 1)]

    def logits(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """W2 h + b2, a batched product for each layer."""
        W2, b2 = weights[2:]
        return torch.baddbmm(b2, W2, self._hidden(weights, x))

    def features(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """(images, hidden): h."""
        return self._hidden(weights, x).squeeze(0).mT.contiguous()

    def _hidden(self, weights: list[Tensor], x: Tensor) -> Tensor:
        W1, b1 = weights[:2]
        return torch.baddbmm(b1, W1, x.mT.expand(len(W1), -1, -1)).relu_()

    def gradient(self, weights: list[Tensor], out: list[Tensor], x: Tensor, y: Tensor, share: Tensor) -> None:
        """That of the last layer, then with (W2' G) * 1{h > 0} that of the hidden one, which is 0 where W2 is."""
        W1, b1, W2, b2 = weights
        h = torch.baddbmm(b1, W1, x.mT).relu_()
        G = torch.baddbmm(b2, W2, h).softmax(dim=1).sub_(y).mul_(share)
        _layer_gradient(G, h.mT, out[2:])
        if not W2.any():  # As at the start of Recipe.last_layer "zero": half of a step need not be computed.
            for part in out[:2]:
                part.zero_()
            return
        _layer_gradient(torch.bmm(W2.mT, G).mul_(h.sign_()), x, out[:2])  # sign(relu) is 1{h > 0}


def _layer_gradient(G: Tensor, x: Tensor, out: list[Tensor]) -> None:
    torch.bmm(G, x, out=out[0])
    torch.sum(G, dim=2, keepdim=True, out=out[1])


class Convnet:
    """Two 3 x 3 convolutions of stride 2 with `hidden` and 2 * `hidden` channels, relu, a linear layer."""

    def __init__(self, shape: Shape, hidden: int, n_classes: int) -> None:
        if len(shape) == 1:
            raise ValueError("`images` must be (n, H, W) or (n, H, W, channels) for the convnet.")
        self.image = height, width, channels = (*shape, 1)[:3]
        features = 2 * hidden * math.ceil(height / 4) * math.ceil(width / 4)
        kernels = (hidden, channels, 3, 3), (2 * hidden, hidden, 3, 3), (n_classes, features)
        self.shapes: list[Shape] = [part for kernel in kernels for part in (kernel, kernel[:1])]

    def inputs(self, images: NDArray[np.float32]) -> Tensor:
        """(images, H, W, channels)."""
        return torch.tensor(images.reshape(len(images), *self.image))  # channels last: the fastest layout

    def logits(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """(1, classes, images), of a block of one model: the linear layer on its `features`."""
        W, b = (weight.squeeze(0) for weight in weights[4:])
        return functional.linear(self.features(weights, x), W, b).mT.unsqueeze(0)

    def features(self, weights: list[Tensor], x: Tensor) -> Tensor:
        """(images, 2 * hidden * ceil(H / 4) * ceil(W / 4)): the second convolution after its relu."""
        K1, b1, K2, b2 = (weight.squeeze(0) for weight in weights[:4])
        h = functional.conv2d(x.permute(0, 3, 1, 2), K1, b1, stride=2, padding=1).relu()
        return functional.conv2d(h, K2, b2, stride=2, padding=1).relu().flatten(1)

    def gradient(self, weights: list[Tensor], out: list[Tensor], x: Tensor, y: Tensor, share: Tensor) -> None:
        """By autograd, of a block of one model."""
        leaves = [weight.detach().requires_grad_() for weight in weights]
        with torch.enable_grad():
            loss = -(self.logits(leaves, x.squeeze(0)).log_softmax(dim=1) * y * share).sum()
            gradients = torch.autograd.grad(loss, leaves)
        for result, gradient in zip(out, gradients, strict=True):
            result.copy_(gradient)
