"""Methods side by side."""

import dataclasses

from report_content import make_blocks, make_rows


def test_methods_side_by_side_say_what_they_share(report):
    mine = make_rows(30, 9)
    theirs = [dataclasses.replace(row, method="swap") for row in mine[-4:]]
    _, page = report([*mine, *theirs])
    [rows] = [rows for kind, rows in page.tables if kind == "methods"]
    assert rows[0][5:] == ["also by paired", "also by swap"]
    assert rows[1][:4] == ["paired", "30", "1,000", "9"]
    assert rows[1][5:] == ["", "4"]
    assert rows[2][5:] == ["4", ""]


def test_methods_tested_on_the_last_block_have_fewer_models(report):
    rows = [*make_rows(9, 3), *make_rows(9, 3, method="swap")]
    _, page = report(rows, blocks=make_blocks(), n_models_test=900)
    [table] = [rows for kind, rows in page.tables if kind == "methods"]
    assert [line[2] for line in table] == ["models", "900", "300"]
    assert "Those with fewer models are tested on the last block alone." in page.text
