"""What the sections share: the methods of the page, what of them is drawn, and how close it was."""

from report_content import make_rows


def test_twenty_findings_with_fewer_panels(report):
    folder, page = report(make_rows(60, 20), max_panels=6)
    assert len(page.all("article")) == len(list(folder.glob("panels/*"))) == 6
    assert len(page.all("img")) == 18 + len(page.all("section", **{"class": "group"}))
    assert "14 more findings are in the table below and in findings.csv" in page.text
    assert len(page.rows) == 21
    assert [a["href"] for a in page.all("a") if a["href"].startswith("#")] == [f"#paired-{k}" for k in range(1, 7)]
    _, page = report(make_rows(60, 20), max_panels=19)
    assert "1 more finding is in the table" in page.text
    folder, page = report(make_rows(60, 20), max_panels=0)
    assert page.all("img") == []
    assert not (folder / "panels").exists()
