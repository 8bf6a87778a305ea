"""Small tables of a stage as Parquet files, for those that need not be written a group of rows at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """A table of one-dimensional columns: arrays of numpy's or of Arrow's."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(dict(columns)), path)


def read_columns(path: Path) -> dict[str, NDArray[Any]]:
    """What `write_columns` wrote."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: np.asarray(table[name].to_numpy(zero_copy_only=False)) for name in table.column_names}
