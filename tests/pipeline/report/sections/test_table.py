"""All findings in numbers, to an end."""

from report_content import make_rows


def test_the_table_on_the_page_has_an_end(report):
    _, page = report(make_rows(2100, 2100), max_panels=0)
    assert len(page.rows) == 2001
    assert "The first 2000 of 2100 findings; all of them are in findings.csv" in page.text
