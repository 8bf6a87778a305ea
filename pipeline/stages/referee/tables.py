"""The tables of the referee's stage: tested pairs, and claims that contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAIRS = "pairs.parquet"
CONTRADICTIONS = "contradictions.parquet"


def write_columns(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """A table of one-dimensional columns."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(dict(columns)), path)


def read_columns(path: Path) -> dict[str, NDArray[Any]]:
    """What `write_columns` wrote."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: np.asarray(table[name].to_numpy(zero_copy_only=False)) for name in table.column_names}
