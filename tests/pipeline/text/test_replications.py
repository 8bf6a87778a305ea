"""The table: a column that no row knows is left out, and a dash stands where one row does not know it."""

from dataclasses import replace

from datamodels_inf.replication import Replication
from pipeline.text.replications import COLUMNS, cells, share, table

FOUND = Replication(1234, 0.9946, 0.984, 1.0, 0.93, 0.98, 1100, 2, 0.99, 0.011, 0.024)


def test_a_column_is_left_out_only_where_no_row_knows_it():
    other = replace(FOUND, coverage_selected=None, false_share=None, false_bound=None)
    columns, rows = table({"contrast": FOUND, "paired": other})
    assert tuple(columns) == COLUMNS
    assert rows["contrast"] == [
        "1,234", "99.5 %", "98.4 to 100.0", "93.0 %", "99.0 %", "0.98", "1.1 %", "2.4 %", "1,100", "2",
    ]  # fmt: skip
    assert rows["paired"][4:8] == ["—", "0.98", "—", "—"]
    columns, rows = table({"paired": other})
    assert [name for name in COLUMNS if name not in columns] == ["as a finding", "false", "at most"]
    assert len(rows["paired"]) == len(columns)
    assert table({}) == ([], {})


def test_what_is_not_defined_is_a_dash():
    assert share(None) == "—"
    assert cells(replace(FOUND, slope=None))[5] == "—"
