"""All findings in numbers, to an end."""

import re

from report_content import make_blocks, make_row, make_rows


def test_the_table_on_the_page_has_an_end(report):
    _, page = report(make_rows(2100, 2100), max_panels=0)
    assert len(page.rows) == 2001
    assert "Here are the first 2,000 of the 2,100 findings, by p-value" in page.text
    assert "2,100 more findings have no panel here. The table below has the first 2,000 of the 2,100" in page.text
    assert "The first findings in numbers" in page.text
    [table] = [attrs for tag, attrs in page.tags if "data-found" in attrs]
    assert table["data-found"] == "2100"


def test_the_table_says_on_how_many_models_its_pairs_were_tested(report):
    rows = [*make_rows(9, 2), *make_rows(9, 1, method="swap")]
    _, page = report(rows, blocks=make_blocks(), n_models_test=900)
    assert "Each pair was tested on 900 models, in 3 blocks; how many of the models tell its two" in page.text
    assert "Each pair was tested on the last block’s 300 models; how many" in page.text
    assert report(rows)[1].text.count("Each pair was tested on 1,000 held-out models; how many") == 2


def test_findings_without_a_panel_know_where_their_images_are(report):
    _, page = report(make_rows(60, 20), max_panels=6)
    rows = [attrs for tag, attrs in page.tags if tag == "tr" and "data-s" in attrs]
    assert [row.get("id") for row in rows] == [None] * 6 + [f"paired-{k}" for k in range(7, 21)]
    assert all(("data-squares" in row) == ("id" in row) for row in rows)
    assert all(re.fullmatch(r"\d+;\d+;\d+", row["data-squares"]) for row in rows[6:])
    _, page = report(make_rows(60, 20), max_panels=6, images=None)
    assert 'data-squares="' not in page.html
    rows = [attrs for tag, attrs in page.tags if tag == "tr" and "data-s" in attrs]
    assert all(("data-words" in row) == ("id" in row) for row in rows)
    assert all(re.search(r"raining on .* instead of .* 95 % interval ", row["data-words"]) for row in rows[6:])
    assert "findings without a panel open here." in page.text
    _, page = report(make_rows(60, 20), max_panels=20)
    assert not page.all("img", id="sprite")


def test_rows_can_be_filtered_by_all_their_images_and_classes(report):
    row = make_row(5, class_i="dog", class_j="cat", i=1, j=6, members_i=(1, 2), members_j=(6, 7))
    classes = ["", "dog", "truck", "", "", "", "cat", "cat", "", "", "", ""]
    _, page = report([row], train_classes=classes, class_names=("dog", "truck", "cat"))
    (line,) = (attrs for tag, attrs in page.tags if tag == "tr" and "data-s" in attrs)
    assert (line["data-m"], sorted(line["data-c"].split())) == ("1 2 6 7", ["0", "1", "2"])


def test_several_tables_share_the_rows_that_a_page_may_have(report, monkeypatch):
    monkeypatch.setattr("pipeline.report.limits.ALL_ROWS", 30)
    rows = [*make_rows(20, 20), *make_rows(20, 20, method="swap"), *make_rows(9, 0, method="contrast")]
    _, page = report(rows, max_panels=3)
    assert len(page.rows) == 2 * (15 + 1)
    assert page.text.count("Here are the first 15 of the 20 findings") == 2
