"""Tables come back as they were written."""

import numpy as np

from pipeline.store.tables import read_columns, write_columns


def test_tables_come_back(tmp_path):
    columns = {"a": np.array([1, 2]), "b": np.array([0.5, np.nan])}
    write_columns(tmp_path / "t.parquet", columns)
    found = read_columns(tmp_path / "t.parquet")
    for name, values in columns.items():
        np.testing.assert_array_equal(found[name], values)
