"""How the memory of a LASSO fit is shared out.

First comes what every fit needs: the bits of the masks, some vectors for each target, room to count rows in. Of what is
left, most is for rows of the Gram matrix, and the rest for the working sets' own squares of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from datamodels_inf.kernels.margin_sums import TARGETS
from datamodels_inf.lasso.columns import COLUMNS_AT_ONCE, words_of
from datamodels_inf.lasso.gram import ROWS_AT_ONCE

SQUARES = 0.12
"""The least share of the working sets' squares; they also have what is left where all rows are kept."""
IN_USE = 0.75
"""Of that memory: for squares that are worked in. The rest is for copies of those that wait for rows."""
LEAST_ROWS = 1024


@dataclass(frozen=True)
class MemoryPlan:
    """`rows` of the Gram matrix are kept; squares of working sets take at most `square_bytes` and `waiting_bytes`."""

    n: int
    d: int
    fixed: int
    memory_gb: float

    @property
    def rows(self) -> int:
        """How many rows there is room for, at two bytes an entry; at most d."""
        return int(min(self.d, self._free * (1 - SQUARES) / (2 * self.d)))

    @property
    def square_bytes(self) -> int:
        """For squares that are worked in."""
        return int(min(self._for_squares * IN_USE, 2**62))

    @property
    def waiting_bytes(self) -> int:
        """For squares of paths that wait."""
        return int(min(self._for_squares * (1 - IN_USE), 2**62))

    @property
    def gb_for_all(self) -> str:
        """The `memory_gb` that has room for all rows."""
        return self._gb_for(self.d)

    def _gb_for(self, rows: int) -> str:
        """In two digits and rounded up."""
        needed = (self.fixed + 2 * self.d * rows / (1 - SQUARES)) / 1e9
        unit = 10.0 ** (math.floor(math.log10(needed)) - 1)
        return f"{math.ceil(needed / unit + 0.01) * unit:.3g}"

    def check(self) -> None:
        """Refuse a `memory_gb` without room for LEAST_ROWS rows, or for all d if these are fewer."""
        least = min(self.d, LEAST_ROWS)
        if not self._free * (1 - SQUARES) >= 2 * self.d * least:
            raise ValueError(
                f"`memory_gb` must be at least {self._gb_for(least)} for {self.n} masks of {self.d} images, "
                f"but it is {self.memory_gb:g}."
            )

    @property
    def bytes_with_rows(self) -> float:
        """For squares and rows of the Gram matrix together."""
        return self._free

    @property
    def _for_squares(self) -> float:
        return max(self._free * SQUARES, self._free - 2.0 * self.d * self.rows)

    @property
    def _free(self) -> float:
        return 1e9 * self.memory_gb - self.fixed


def plan_memory(ends: Sequence[int], d: int, batch: int, threads: int, memory_gb: float) -> MemoryPlan:
    """For masks of d images, in parts that end before the rows `ends`, and `batch` targets at a time."""
    n, words = ends[-1], sum(words_of(stop - start) for start, stop in pairwise((0, *ends)))
    vectors, margins = 3 * batch + 36 + 2 * len(ends), batch + 2 * TARGETS
    counts = min(d, COLUMNS_AT_ONCE * threads) * 6 * ROWS_AT_ONCE
    plan = MemoryPlan(n, d, 8 * d * (words + vectors) + 8 * n * margins + counts, memory_gb)
    plan.check()
    return plan
