"""The gallery names all examples, and what it shows is what they claim. That they print it is a test of its page
(test_documented_pages.py)."""

import ast
import contextlib
import io
import re
import runpy
import sys

import numpy as np
import pytest
from entry_points_here import declare
from places import ROOT

EXAMPLES = ROOT / "examples"
GALLERY = (EXAMPLES / "README.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"<!-- output of: python examples/(\S+\.py) -->\n```text\n(.*?)```", GALLERY, re.DOTALL))


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """What a script prints when it is called with these words in an empty folder, in which it leaves nothing."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(name, *words):
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        assert not list((tmp_path / "here").iterdir())
        return out.getvalue()

    return run


def test_the_gallery_names_all_examples():
    named = set(re.findall(r"^\| \[(\S+?)\]\(", GALLERY, re.MULTILINE))
    there = {path.name + "/" * path.is_dir() for path in EXAMPLES.iterdir() if path.name != "__pycache__"}
    assert named == there - {"README.md"}
    elsewhere = {"train_own_function.py", "diabetes.py"}  # test_example_own_function.py, test_python_docs.py
    assert set(SHOWN) == {name for name in named if name.endswith(".py")} - elsewhere


def test_every_script_says_what_it_shows_and_how_it_is_called():
    for path in EXAMPLES.glob("*.py"):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert f"    python examples/{path.name}" in words, path.name


def test_own_data_takes_thirty_lines():
    """Of code: without the docstring, comments and empty lines."""
    source = (EXAMPLES / "own_data.py").read_text(encoding="utf-8")
    (first, *rest) = ast.parse(source).body
    code = source.splitlines()[first.end_lineno :]
    assert len([line for line in code if line.strip() and not line.strip().startswith("#")]) <= 30 and rest


def test_own_data_writes_its_report_where_it_is_told(printed, tmp_path, monkeypatch):
    declare(tmp_path / "declared", monkeypatch)
    assert printed("own_data.py", tmp_path / "report").endswith(f"report: {tmp_path / 'report' / 'index.html'}\n")
    assert (tmp_path / "report" / "index.html").is_file()


def verdicts(text, method):
    """(claims, confirmed, unproven, reversed) of a method."""
    ((*_, numbers),) = re.findall(rf"^({method}) ([ \d]+)$", text, re.MULTILINE)
    return tuple(map(int, numbers.split()))


def test_scores_of_the_other_sign_are_reversed_where_trak_is_confirmed(printed, tmp_path):
    """So the script reads the file that it is given, and its table follows the scores."""
    scores = np.load(EXAMPLES / "referee" / "trak_digits.npy")
    assert scores.shape == (400, 120) and scores.dtype == np.float32
    np.save(tmp_path / "turned.npy", -scores)
    text = printed("trak_referee.py", tmp_path / "turned.npy")
    claims, confirmed, unproven, turned = verdicts(SHOWN["trak_referee.py"], "TRAK")
    assert verdicts(text, "turned") == (claims, turned, unproven, confirmed)
    assert confirmed > 5 * turned


def test_a_random_method_is_confirmed_as_often_as_reversed():
    """Of the scores that know nothing, each decided claim is a coin's."""
    _, confirmed, _, turned = verdicts(SHOWN["trak_referee.py"], "random")
    assert abs(confirmed - turned) < 3 * (confirmed + turned) ** 0.5


def test_the_careful_plan_keeps_what_it_promises():
    """Within what 282 pairs of one target may scatter; the plain one does not. docs/planning.md says the same."""
    for line in SHOWN["plan_study.py"].splitlines()[-2:]:
        method, _, plain, _, careful = line.split()
        assert float(careful) > 0.75 > float(plain)
    told = (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
    assert method == "contrast" and f"has {plain} by `contrast`" in told and f"has {careful}." in told
