"""The report as a whole: the same bytes, in time and size, with progress."""

import time

import pytest
from report_content import make_content, make_images, make_rows

from pipeline.report import write_report
from pipeline.text.given_names import OBEYED


def test_two_thousand_findings_in_time_and_size(report):
    start = time.process_time()
    folder, page = report(make_rows(2000, 2000), images=make_images((32, 32, 3)))
    assert time.process_time() - start < 15.0
    assert (folder / "index.html").stat().st_size < 2.6e6  # 0.4 MB of it are the sentences of 1950 table rows.
    assert len(page.all("article")) == 50
    assert "1,950 more findings" in page.text
    assert len(page.rows) == 2001
    assert "the first 2,000" not in page.text


def test_the_same_content_gives_the_same_bytes(report):
    rows = [*make_rows(30, 8), *make_rows(20, 0, method="swap")]
    first, _ = report(rows)
    second, _ = report(list(rows))
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()


def test_progress_is_told_of_every_panel(tmp_path):
    steps = []
    paths = write_report(tmp_path, make_content(make_rows(9, 2)), lambda part, done: steps.append((part, done)))
    told = {part: sum(done for name, done in steps if name == part) for part in ("page", "lines", "panels")}
    assert told == {"page": pytest.approx(1.0), "lines": pytest.approx(11e-6), "panels": 2}
    assert paths[-1].name == "index.html"


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "old").write_text("x")
    with pytest.raises(ValueError, match="`folder` must be an existing empty folder"):
        write_report(tmp_path, make_content([]))


def test_no_name_turns_the_text_of_the_page_around(report):
    folder, page = report(make_rows(3, 1), title="a\u202eb\x1b[2J\x9bc")
    assert page.text.count("a\ufffdb\ufffd[2J\ufffdc")
    assert not OBEYED.search((folder / "index.html").read_text(encoding="utf-8"))
