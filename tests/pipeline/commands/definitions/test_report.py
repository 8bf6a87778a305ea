"""`report --open`."""

import webbrowser

from command_here import ok
from real_command import SMALL


def test_the_page_is_opened_and_named_where_there_is_no_browser(small_run, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or len(opened) > 1)
    first, second = (ok(small_run, "report", "--open", *SMALL) for _ in range(2))
    (page,) = set(opened)
    assert page.startswith("file://") and page.endswith("/index.html")
    assert f"no browser was found; open {page.removeprefix('file://')}" in first
    assert "no browser" not in second
