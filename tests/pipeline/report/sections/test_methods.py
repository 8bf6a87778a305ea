"""Methods side by side."""

import dataclasses

from report_content import make_rows


def test_methods_side_by_side_say_what_they_share(report):
    mine = make_rows(30, 9)
    theirs = [dataclasses.replace(row, method="swap") for row in mine[-4:]]
    _, page = report([*mine, *theirs])
    [rows] = [rows for kind, rows in page.tables if kind == "methods"]
    assert rows[0][4:] == ["also by paired", "also by swap"]
    assert rows[1][:3] == ["paired", "30", "9"]
    assert rows[1][4:] == ["", "4"]
    assert rows[2][4:] == ["4", ""]
