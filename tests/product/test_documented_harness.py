"""The tests of the pages can fail: a page with something wrong in it is named, with its line."""

import pytest
from documented import agrees, expressions, page_names, parse, without_comment
from documented_pages import EXCEPTIONS
from documented_run import Changed, Desk, Parsed, Run, Shown


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    desk = Desk(tmp_path_factory.mktemp("desk"))
    yield desk
    desk.close()


@pytest.fixture
def failures(desk, request):
    """Of a page with this text."""

    def run(text, **options):
        run.last = Run(desk, parse(f"{request.node.name}-{run.count}.md", text), **options)
        run.count += 1
        return [failure.partition(".md:")[2] for failure in run.last.everything()]

    run.count = 0
    return run


def fenced(language, text):
    return f"A page.\n\n```{language}\n{text}\n```\n"


PLAN = "datamodels-inf plan --effect 0.3 --images 400"


def test_a_good_page_has_no_failures(failures):
    text = fenced("console", f"$ {PLAN}  # for people\nModels of 400 images needed for …\n…\n  contrast  …\n…")
    text += fenced("python", "import math\nmath.factorial(5)  # 120\nprint('a')") + fenced("text", "a")
    text += fenced("toml", "[test]\nalpha = 0.1") + "`datamodels-inf run --config NAME`, `make demo`"
    assert failures(text) == []


@pytest.mark.parametrize(
    ("language", "text", "line", "said"),
    [
        ("console", f"{PLAN} --imges 4", 4, "No such option '--imges'"),
        ("console", f"{PLAN}\n{PLAN} |\n", 5, "syntax error"),
        ("console", f"{PLAN} &&\\\n  false", 4, "exit code 1"),
        ("console", f"# first\n$ {PLAN}\nModels of 401 images needed for …\n…", 5, "and the page shows"),
        ("console", "$ datamodels-inf config list\ndatamodels-inf: this is refused", 4, "exit code 0"),
        ("console", "pip install 'datamodels-inf[clusters]'", 4, "there is no extra clusters"),
        ("console", "pip install another", 4, "is not datamodels-inf"),
        ("console", "make demonstration", 4, "demonstration"),
        ("console", "python examples/none.py", 4, "No such file"),
        ("python", "x = 1\nx + 1  # 3", 5, "is\n    2"),
        ("python", "x = 'a'\nx\n# 'b'", 5, "is\n    'a'"),
        ("python", "from datamodels_inf import swap_tset", 4, "ImportError"),
        ("python", "\n\nx = = 1", 6, "invalid syntax"),
        ("toml", "[test]\nalfa = 0.1", 4, "alfa"),
        ("toml", '[source]\nkind = "folder"', 4, "source.kind"),
        ("text", "printed by nobody", 4, "no block that could have printed it"),
        ("csv", "a,b", 4, "neither run nor in the table"),
        ("", "datamodels-inf run", 4, "neither run nor in the table"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(failures, language, text, line, said):
    (failure,) = failures(fenced(language, text))
    assert failure.startswith(f"{line}: ") and said in failure


@pytest.mark.parametrize(
    ("mentioned", "said"),
    [
        ("datamodels-inf runn", "no command runn"),
        ("datamodels-inf plan --effekt 3", "no option --effekt"),
        ("datamodels-inf plan --effect much", "not a valid float"),
        ("make demonstration", "no such target"),
        ("python benchmarks/power.py --pairz 3", "no option --pairz"),
        ("python benchmarks/none.py", "--help fails"),
    ],
)
def test_commands_in_the_text_are_held_against_their_options(failures, mentioned, said):
    (failure,) = failures(f"One\n\ntwo `{mentioned}` three.\n")
    assert failure.startswith("3: ") and said in failure


def test_text_below_a_block_is_what_it_printed(failures):
    assert failures(fenced("python", "print(1)") + fenced("text", "1")) == []
    (failure,) = failures(fenced("python", "print(1)") + fenced("text", "2"))
    assert failure.startswith("9: ") and "printed was" in failure


def test_text_of_a_command_that_the_page_names(failures):
    page = "<!-- output of: echo yes -->\n```text\n{}\n```\n"
    assert failures(page.format("yes")) == []
    assert failures(page.format("no")) != []


def test_a_part_of_a_file_must_be_in_it(failures):
    page = "<!-- datamodels_inf/designs/__init__.py -->\n```python\n{}\n```\n"
    entry = 'Design("grid", "given images × given targets", ("targets", "images"), "chosen", _grid, _grid_problem)'
    assert failures(page.format(entry)) == []
    (failure,) = failures(page.format(entry.replace("chosen", "taken")))
    assert failure.startswith("3: ") and "has nothing like" in failure


def test_files_of_a_page_are_there_for_its_commands(failures):
    text = (
        fenced('csv title="my/pairs.csv"', "i,j,target")
        + fenced("sh", "cat my/pairs.csv")
        + fenced("text", "i,j,target")
    )
    assert failures(text) == []
    text = fenced('toml title="a.toml"', "[test]\nalpha = 0.1") + fenced('toml title="a.toml"', "[fit]\nn_lambdas = 7")
    assert failures(text + fenced("console", "datamodels-inf config show --config a.toml > shown.toml")) == []
    shown = (failures.last.folder / "shown.toml").read_text()
    assert "alpha = 0.1" in shown and "n_lambdas = 7" in shown


def test_a_script_runs_as_a_whole(failures):
    assert failures(fenced("bash", "#!/bin/bash\nif true; then\n  made=yes\nfi\ntest $made = yes")) == []
    assert failures(fenced("bash", "#!/bin/bash\nexit 3"))[0].startswith("4: ")


def test_exceptions_are_applied_and_noted(failures):
    changed = Changed("--effect 0.3", "--effect 0.4", "for the test")
    parsed, shown = Parsed("python benchmarks/.*", "long"), Shown("elsewhere.md", "a", "a drawing")
    text = fenced("console", f"$ {PLAN}\nModels of 400 images needed for effect 0.3 …") + fenced(
        "console", "python benchmarks/power.py"
    )
    assert failures(text, exceptions=(changed, parsed, shown)) == []
    assert failures.last.used == {changed, parsed}
    assert failures(fenced("console", "python benchmarks/power.py --pairz 1"), exceptions=(parsed,)) != []


def test_every_exception_has_a_reason_and_pages_are_found():
    assert all(entry.why for entry in EXCEPTIONS)
    assert {"README.md", "CONTRIBUTING.md", "docs/method.md", "configs/README.md"} < set(page_names())


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a … c", "a b c\n", True),
        ("a … c", "a b d\n", False),
        ("…\nlast", "1\n2\nlast\n", True),
        ("…\nlast", "last\n", True),
        ("first\n…", "first\n", True),
        ("first", "first\nsecond\n", False),
        ("a (b", "a (b  \n", True),
        ("a", "b\na\n", False),
    ],
)
def test_what_a_page_shows_stands_for(shown, printed, same):
    assert agrees(shown, printed) is same


def test_comments_and_values():
    assert without_comment("a --set 'b#c' x#y  # why") == "a --set 'b#c' x#y"
    block = parse(
        "p.md", fenced("python", "f(1)  # so\ng(2)  # [1, …]\nh(3)\n# 'a'\n# b\nx = 4  # 5\nprint(x)  # 4")
    ).blocks[0]
    assert [statement.shown for statement in expressions(block)] == [None, "[1, …]", "'a'\nb", None, "4"]
