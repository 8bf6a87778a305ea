"""How the outcomes of some rows are read: margins, losses or any other real numbers, one column a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import some_of
from pipeline.errors import BadInputError
from pipeline.sources.mask_rows import CHUNK_ROWS

LARGEST = 1e38
"""What fits into 32 bits; sums of fourth powers of such numbers fit into 64."""
SMALLEST = 1e-38
"""The same below: fourth powers of less would be 0."""


@dataclass(frozen=True, eq=False)
class OutcomeRows:
    """(n_models, n_targets) numbers of any type; an outcome is `factor` times the number.

    step: whether `factor` is the unit of whole numbers, so that outcomes are float32.
    """

    name: str
    array: NDArray[Any]
    factor: float = 1.0
    step: bool = False

    @property
    def n_models(self) -> int:
        """Rows."""
        return len(self.array)

    @property
    def n_targets(self) -> int:
        """Columns."""
        return int(self.array.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of outcomes: floats of 16, 32 or 64 bits as they are, and for others the narrowest that loses nothing.

        >>> [str(OutcomeRows("", np.zeros((1, 1), kind)).dtype) for kind in ("f2", ">f4", "i2", "i8", "?")]
        ['float16', 'float32', 'float32', 'float64', 'float32']
        """
        kind = self.array.dtype
        if self.step:
            return np.dtype(np.float32)
        if kind.kind == "f":
            return np.dtype(f"f{min(kind.itemsize, 8)}")
        return np.dtype(np.float32 if kind.itemsize <= 2 else np.float64)

    def raw(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The outcomes of some rows, whatever they are."""
        values = np.ascontiguousarray(self.array[rows]).astype(self.dtype, copy=False)
        return values if self.factor == 1.0 else np.asarray(values * self.dtype.type(self.factor))

    def values(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The outcomes of some rows; NaN and infinity are refused, with their places."""
        values = self.raw(rows)
        if values.dtype == np.float64 and (large := np.abs(values) > LARGEST).any():
            self._refuse_large(values, rows, large & np.isfinite(values))
        wrong = ~np.isfinite(values)
        if wrong.any():
            places = np.flatnonzero(wrong.any(axis=1))
            columns = np.flatnonzero(wrong[places[0]])
            raise BadInputError(
                f"{self.name} holds NaN or infinity in row {some_of(rows[places])} (row {rows[places[0]]}: column "
                f"{some_of(columns)}); correct them, make the whole row NaN to leave its model out, or drop the column."
            )
        return values

    def _refuse_large(self, values: NDArray[Any], rows: NDArray[np.int64], large: NDArray[np.bool_]) -> None:
        """Before anything is fitted: their squares, summed over the models, would not be numbers any more."""
        if large.any():
            row, column = (int(place[0]) for place in np.nonzero(large))
            raise BadInputError(
                f"{self.name} holds {values[row, column]:g} in row {rows[row]}, column {column}; outcomes beyond "
                f"{LARGEST:g} cannot be summed: divide them all by a power of ten."
            )

    def refuse_tiny(self, largest: NDArray[Any]) -> None:
        """Of each target the largest size of an outcome: where all are tiny, nothing would be found without a word."""
        tiny = np.flatnonzero((largest > 0.0) & (largest < SMALLEST) & (self.dtype == np.float64))
        if len(tiny):
            raise BadInputError(
                f"{self.name} holds nothing larger than {largest[tiny[0]]:g} in column {some_of(tiny)}; outcomes that "
                f"are all below {SMALLEST:g} cannot be summed: multiply them all by a power of ten."
            )

    def missing_rows(self) -> NDArray[np.bool_]:
        """Rows that hold nothing but NaN: models that were not trained or not judged."""
        missing = np.zeros(self.n_models, np.bool_)
        if self.array.dtype.kind != "f" or self.n_targets == 0:
            return missing
        for start in range(0, self.n_models, CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            first = start + np.flatnonzero(np.isnan(self.array[rows, 0]))
            missing[first] = np.isnan(self.array[first]).all(axis=1)
        return missing
