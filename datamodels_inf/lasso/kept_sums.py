"""Sums of margins that a fit needs twice: on its training rows to choose λ, and again when all rows are fitted.

Σ_m M_mj y_m over the rows of a part costs a pass over all masks. Between the two lie the paths of all other targets,
so that the sums of thousands are too much for memory; whoever has a better place for them brings it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from datamodels_inf.internal.checks import Floats
from datamodels_inf.lasso.columns import ColumnBits, Rounded


class KeptSums(Protocol):
    """A place for sums, each an array of a float64 for every image, by a key that tells parts and margins apart."""

    def get(self, key: bytes) -> Floats | None:
        """What was put there, to the last bit; None where it was not, or is not any more."""

    def put(self, key: bytes, sums: Floats) -> None:
        """Keep it, if there is room."""


def part_sums(
    columns: ColumnBits,
    rounded: Sequence[Rounded],
    number: int,
    kept: KeptSums | None,
    told: Callable[[float], object] | None,
    *,
    last: bool,
) -> Floats:
    """`columns.weighted_sums`, of at most 16 targets; only those that are not `kept` are made.

    last: nobody will ask for them again.
    """
    if kept is None:
        return columns.weighted_sums(rounded, number, told)
    keys = [_key(number, y) for y in rounded]
    found = [kept.get(key) for key in keys]
    missing = [t for t, sums in enumerate(found) if sums is None]
    if missing:
        made = columns.weighted_sums([rounded[t] for t in missing], number, told)
        for t, sums in zip(missing, made, strict=True):
            found[t] = sums
            if not last:
                kept.put(keys[t], sums)
    elif told is not None:
        told(columns.parts[number].n / columns.n_rows)
    return np.stack([sums for sums in found if sums is not None])


def _key(number: int, y: Rounded) -> bytes:
    head = np.array([number, y.offset, y.step]).tobytes()
    return hashlib.blake2b(head + y.steps.tobytes(), digest_size=16).digest()
