"""Findings against the number of models: only where p-values after each block are known, and only as a description."""

from report_content import make_blocks, make_rows

from pipeline.report.content import Growth


def test_the_chart_and_its_table_say_the_same(report):
    rows = [*make_rows(40, 6), *make_rows(40, 9, method="contrast"), *make_rows(9, 2, method="swap")]
    growth = {"paired": Growth((200, 600, 900), (0, 4, 6)), "contrast": Growth((200, 600, 900), (3, 8, 9))}
    _, page = report(rows, growth=growth, blocks=make_blocks(), n_models_test=900)
    assert "This describes and decides nothing: the p-value that counts is the last one" in page.text
    assert "swap is tested on the last block alone and not drawn." in page.text
    [table] = [rows for kind, rows in page.tables if kind == "growth"]
    assert table[0] == ["models that have tested", "findings of paired", "findings of contrast"]
    assert table[1:] == [["200", "0", "3"], ["600", "4", "8"], ["900", "6", "9"]]
    [drawing] = page.all("svg", **{"class": "lines"})
    assert drawing["aria-label"].endswith("from 200 to 900 models: paired, 0 to 6; contrast, 3 to 9")
    assert "● paired ■ contrast" in page.text


def test_nothing_found_anywhere_is_drawn_at_zero(report):
    _, page = report(make_rows(40, 0), growth={"paired": Growth((200, 600), (0, 0))})
    [table] = [rows for kind, rows in page.tables if kind == "growth"]
    assert table == [["models that have tested", "findings"], ["200", "0"], ["600", "0"]]


def test_where_all_models_test_at_once_there_is_no_such_section(report):
    _, page = report(make_rows(40, 6))
    assert "Findings against the number of models" not in page.text
