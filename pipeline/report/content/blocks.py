"""Where every model but the first tests: blocks of models, each with datamodels fitted on the models before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Blocks:
    """n_first: models that only fit. sizes: models of each block, in their order. of_method: how many tested each pair,
    by method: all, or those of the last block alone.

    r2: of each block, the median R² on it of the datamodels that tested it, NaN if not known.
    """

    n_first: int
    sizes: tuple[int, ...]
    of_method: Mapping[str, int]
    r2: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.sizes or len(self.r2) != len(self.sizes):
            raise ValueError("`r2` must have one entry for each of the blocks, of which there must be one at least.")

    @property
    def n_tested(self) -> int:
        """Models of all blocks."""
        return sum(self.sizes)

    @property
    def fitted(self) -> tuple[int, ...]:
        """Before each block, the models that its datamodels were fitted on."""
        return tuple(accumulate(self.sizes[:-1], initial=self.n_first))

    @property
    def tested(self) -> tuple[int, ...]:
        """After each block, the models that have tested."""
        return tuple(accumulate(self.sizes))

    @property
    def on_last(self) -> tuple[str, ...]:
        """Methods that are tested on the last block alone."""
        return tuple(name for name, count in self.of_method.items() if count < self.n_tested)
