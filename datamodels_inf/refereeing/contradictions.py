"""Where two methods contradict each other and the models decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from datamodels_inf.refereeing.verdicts import Ruling


@dataclass(frozen=True, eq=False)
class Contradictions:
    """Claims of method `right` that are confirmed although method `wrong` orders the two images the other way round.

    pair: which pair. disagreement: by how much of all places the other method has them the other way round, 0 to 1; the
    largest come first.
    """

    pair: Ints
    right: Ints
    wrong: Ints
    disagreement: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.pair)

    def first(self, count: int) -> Contradictions:
        """The `count` largest."""
        return Contradictions(self.pair[:count], self.right[:count], self.wrong[:count], self.disagreement[:count])


def contradictions(claim: NDArray[np.int8], gap: NDArray[np.float32], rulings: Sequence[Ruling]) -> Contradictions:
    """All of them; `claim` and `gap` are (P, M) as in `Claims`, with a ruling for each method."""
    found: list[tuple[NDArray[np.intp], int, int]] = []
    for right, ruling in enumerate(rulings):
        for wrong in range(len(rulings)):
            against = -claim[:, right] * gap[:, wrong]
            if wrong != right:
                found.append((np.flatnonzero((ruling.verdict == 1) & (against > 0.0)), right, wrong))
    pair, first, second = (
        np.concatenate(
            [np.broadcast_to(np.asarray(part[k]), part[0].shape) for part in found] or [np.zeros(0, np.int64)]
        )
        for k in range(3)
    )
    pair, first, second = (array.astype(np.int64) for array in (pair, first, second))
    size = np.abs(gap[pair, second])
    order = np.lexsort((second, first, pair, -size))
    return Contradictions(pair[order], first[order], second[order], size[order])


def decided(
    claim: NDArray[np.int8], gap: NDArray[np.float32], rulings: Sequence[Ruling], a: int, b: int
) -> tuple[int, int]:
    """(how often a is right, how often b is) of the claims of either on which the two disagree and that models decide.

    A pair that both make a claim of counts once.
    """
    sides = []
    for own, other, sign in ((a, b, 1), (b, a, -1)):
        disagree = claim[:, own] * gap[:, other] < 0.0
        sides.append(np.where(disagree, sign * rulings[own].verdict, 0))
    both = np.sign(sides[0] + sides[1])
    return int((both > 0).sum()), int((both < 0).sum())
