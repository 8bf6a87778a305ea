"""Many small models on random subsets of a training set, for data of one's own.

NETWORKS: the kinds of models, by name. A new one is a class in `networks` and an entry here (docs/adding.md). Importing
`networks` or `train` brings torch; this module does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datamodels_inf.training.networks import Network, Shape


@dataclass(frozen=True)
class NetworkKind:
    """build(shape of an image, hidden, number of classes). alone: models are trained one after the other, because on a
    processor that is faster than a block of them at once."""

    name: str
    title: str
    build: Callable[[Shape, int, int], Network]
    alone: bool = False


def _softmax(shape: Shape, hidden: int, n_classes: int) -> Network:
    from datamodels_inf.training.networks import Softmax

    return Softmax(math.prod(shape), n_classes)


def _mlp(shape: Shape, hidden: int, n_classes: int) -> Network:
    from datamodels_inf.training.networks import Mlp

    return Mlp(math.prod(shape), hidden, n_classes)


def _convnet(shape: Shape, hidden: int, n_classes: int) -> Network:
    from datamodels_inf.training.networks import Convnet

    return Convnet(shape, hidden, n_classes)


NETWORKS: dict[str, NetworkKind] = {
    kind.name: kind
    for kind in (
        NetworkKind("softmax", "softmax regression", _softmax),
        NetworkKind("mlp", "one hidden layer of `hidden` units", _mlp),
        NetworkKind("convnet", "convolutions, `hidden` channels in the first layer", _convnet, alone=True),
    )
}
