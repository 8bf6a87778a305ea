"""The page: everything said, everything escaped, nothing from a network."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from pipeline.report.referee.page import page_html, write_referee

VOID = {"meta", "link", "img", "br"}


class Balanced(HTMLParser):
    """Every tag is closed, in order; ids and links are noted."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], set(), set()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        self.links.add(given.get("href", ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_it_is_whole_and_escaped(content):
    html = page_html(content)
    page = Balanced()
    page.feed(html)
    assert not page.open
    assert {link[1:] for link in page.links if link.startswith("#")} <= page.ids
    assert "A &amp; &lt;b&gt;" in html
    assert "<b>, " not in html
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", html)
    assert "<script" not in html


def test_it_says_the_verdicts_the_warnings_and_the_leak(content):
    text = re.sub(r"<[^>]+>", " ", page_html(content))
    for words in (
        "Confirmed most: second, 1 of 2 claims (50 %)", "What this page cannot see", "its sign may be turned",
        "at most 10 % are expected to be wrong", "not testable", "0.500 (0.400 to 0.600)", "2 targets",
    ):  # fmt: skip
        assert words in text, words
    assert "What this page cannot see" not in page_html(replace(content, unseen=True))


def test_tables_have_captions_and_headers_and_the_figure_a_text(content):
    html = page_html(content)
    assert html.count("<table") == html.count("<caption>") == 3
    assert len(re.findall(r"<th(?! scope)", html.replace("<thead", ""))) == 0
    assert 'role="img" aria-label="Claims of each method by verdict.' in html
    assert len(re.findall(r'<svg class="pic" [^>]*aria-label="[^"]+"', html)) == html.count("<use ") == 6


def test_the_files_of_the_page_are_there(tmp_path, content):
    write_referee(tmp_path, content)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r'href="([\w.]+)"', html):
        assert (tmp_path / name).is_file(), name
    assert page_html(content) == html


def test_one_method_alone_and_no_contradiction(content):
    found = {name: column[:0] for name, column in content.contradictions.items()}
    summary = content.summary.model_copy(
        update={"methods": content.summary.methods[:1], "decided": (), "n_contradictions": 0}
    )
    html = page_html(replace(content, summary=summary, contradictions=found))
    assert "Only one method was named." in html
    assert "There are none." in html


def test_it_has_no_column_beside_it_and_nothing_that_the_report_calls_its_contents(content):
    html = page_html(content)
    style, body = html.split("</style>")
    assert '<ul class="jumps">' in body
    assert ".jumps {" in style
    assert 'class="toc"' not in body
    assert "<body>" in body  # The two columns are those of body.beside.
    assert "body { display: grid" not in style
