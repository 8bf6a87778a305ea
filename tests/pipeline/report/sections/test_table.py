"""All findings in numbers, to an end."""

from report_content import make_blocks, make_rows


def test_the_table_on_the_page_has_an_end(report):
    _, page = report(make_rows(2100, 2100), max_panels=0)
    assert len(page.rows) == 2001
    assert "The first 2000 of 2100 findings; all of them are in findings.csv" in page.text


def test_the_table_says_on_how_many_models_its_pairs_were_tested(report):
    rows = [*make_rows(9, 2), *make_rows(9, 1, method="swap")]
    _, page = report(rows, blocks=make_blocks(), n_models_test=900)
    assert "Each pair was tested on 900 models, in 3 blocks; how many of the models tell its two" in page.text
    assert "Each pair was tested on the last block’s 300 models; how many" in page.text
    assert report(rows)[1].text.count("Each pair was tested on 1000 held-out models; how many") == 2
