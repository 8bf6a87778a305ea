"""Every block of docs/python.md runs, one after the other, and prints what stands below it; so does the example."""

import contextlib
import io
import re
import runpy

import matplotlib
from entry_points_here import declare
from places import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(<!-- \S+ -->\n)?```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def printed(run):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue()


def test_the_blocks_run_and_print_what_stands_below_them(tmp_path, monkeypatch):
    matplotlib.use("agg")
    declare(tmp_path / "declared", monkeypatch)
    monkeypatch.chdir(tmp_path)
    names, compared = {}, 0
    for (_, kind, code), (example, after, text) in zip(BLOCKS, [*BLOCKS[1:], ("", "", "")], strict=True):
        if kind != "python":
            continue
        said = printed(lambda code=code: exec(compile(code, "docs/python.md", "exec"), names))
        if after == "text" and not example:
            assert said.split("\n") == text.split("\n")
            compared += 1
        else:
            assert said == ""
    assert compared >= 5
    assert names["page"].name == "index.html" and (tmp_path / "out" / "index.html").is_file()
    for name in ("by_lists", "by_scores", "one"):
        assert len(names[name].findings()) > 0


def test_the_quick_start_is_ten_lines():
    assert len([line for line in BLOCKS[0][2].splitlines() if line.strip()]) <= 10


def test_the_example_prints_what_the_page_shows():
    ((_, _, text),) = [block for block in BLOCKS if block[0]]
    assert printed(lambda: runpy.run_path(str(ROOT / "examples" / "diabetes.py"), run_name="__main__")) == text
