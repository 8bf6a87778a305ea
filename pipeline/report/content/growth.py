"""How the findings of a method grew with the models that tested."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Growth:
    """After each block of models: n_models have tested so far, and n_found tests would be findings by them alone."""

    n_models: tuple[int, ...]
    n_found: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.n_models or len(self.n_models) != len(self.n_found):
            raise ValueError("`n_models` and `n_found` must have one entry for each block.")
