"""Everything that the outcomes of a set depend on whose models a function of the user's trains, as far as it is known:
the function is known by a checksum of its file, and what else it reads is the user's to keep."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from datamodels_inf.training.draws import Law

BATCHES = 1000
"""Into about so many a set is divided: a batch is what a kill costs."""
LARGEST_BATCH = 64
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""The name of a file in the folder of a set: a note may come from anywhere."""


@dataclass(frozen=True)
class FunctionJob:
    """function: "package.module:name". source_sha256: of the file that it is defined in. files: name → checksum of what
    the set holds beside masks and outcomes: subsets.json, and labels or images that were given."""

    function: str
    source_sha256: str
    n_train: int
    n_targets: int
    n_models: int
    seed: int
    proportion: float
    law: Law
    files: dict[str, str]

    def __post_init__(self) -> None:
        if min(self.n_train, self.n_targets, self.n_models) < 1 or not 0 <= self.seed < 2**64:
            raise ValueError("its numbers of items, targets or models, or its seed, are impossible")
        if not 0.0 < self.proportion < 1.0:
            raise ValueError("its proportion does not lie between 0 and 1")
        if any(not PLAIN.fullmatch(name) for name in self.files):
            raise ValueError("its files have names that lead elsewhere")

    @property
    def dataset(self) -> str:
        """What is trained, in a word."""
        return self.function

    def kept(self, outcomes: NDArray[np.float32]) -> NDArray[np.float32]:
        """Outcomes as they are read from a set of this job."""
        return outcomes

    def batch(self, n_models: int, usual: int) -> int:
        """How many of so many models are trained together: few, for each may take long, and a kill costs a batch."""
        return min(usual, LARGEST_BATCH, max(1, n_models // BATCHES))

    def as_json(self) -> dict[str, Any]:
        """For a manifest."""
        return asdict(self)

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> FunctionJob:
        """From a manifest; else a ValueError."""
        if not found.keys() <= {field.name for field in fields(cls)}:
            raise ValueError("it is no job of `train --function`")
        return _adapter().validate_json(json.dumps(found), strict=True)


@cache
def _adapter() -> TypeAdapter[FunctionJob]:
    return TypeAdapter(FunctionJob)
