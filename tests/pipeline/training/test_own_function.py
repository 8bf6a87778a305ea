"""A function is found as Python would import it in a folder; an edited one is another one in any process."""

import sys

import pytest
from own_training import write_module
from small_cifar10 import refusal

from pipeline.store.files import file_digest
from pipeline.training.own_function import OwnFunction, in_words, source_file

TWICE = "def twice(x):\n    return 2 * x\n"


def find(name, folder):
    return OwnFunction.find(name, folder)


def test_a_function_of_a_module_or_of_a_package(tmp_path):
    write_module(tmp_path, "some_module.py", TWICE)
    write_module(
        tmp_path / "some_package" / "deep", "inside.py", "class A:\n    @staticmethod\n    def f(x): return -x\n"
    )
    found = find("some_module:twice", tmp_path)
    assert (found.call(4), found.file) == (8, tmp_path / "some_module.py")
    assert found.sha256 == file_digest(tmp_path / "some_module.py")
    assert source_file("some_module:twice") == str(tmp_path / "some_module.py")
    assert find("some_package.deep.inside:A.f", tmp_path).call(4) == -4
    assert source_file("never.seen:f") == "never.seen"


def test_the_file_is_that_in_which_it_is_defined(tmp_path):
    """Else an edit of a function that a package only names would not be seen."""
    write_module(tmp_path / "named", "__init__.py", "from named.made import twice\n")
    write_module(tmp_path / "named", "made.py", TWICE)
    assert find("named:twice", tmp_path).file == tmp_path / "named" / "made.py"
    write_module(tmp_path, "partly.py", f"from functools import partial\n{TWICE}\neight = partial(twice, 4)\n")
    assert find("partly:eight", tmp_path).file == tmp_path / "partly.py"


def test_an_installed_one_is_found_from_anywhere(tmp_path):
    assert find("json.decoder:JSONDecoder", tmp_path).call.__name__ == "JSONDecoder"


def test_an_edited_function_is_another_one_also_by_a_module_that_it_imports(tmp_path):
    """As in a worker of a cluster, which serves one command after the other."""
    write_module(tmp_path, "helper_of_it.py", "FACTOR = 2\n")
    write_module(tmp_path, "main_of_it.py", "from helper_of_it import FACTOR\ndef f(x):\n    return FACTOR * x\n")
    first = find("main_of_it:f", tmp_path)
    assert find("main_of_it:f", tmp_path).call is first.call
    write_module(tmp_path, "helper_of_it.py", "FACTOR = 33\n")
    second = find("main_of_it:f", tmp_path)
    assert (first.call(1), second.call(1), first.sha256 == second.sha256) == (2, 33, True)
    write_module(tmp_path, "main_of_it.py", "def f(x):\n    return 4444 * x\n")
    third = find("main_of_it:f", tmp_path)
    assert (third.call(1), third.sha256 == first.sha256) == (4444, False)


def test_a_worker_imports_everything_anew(tmp_path):
    """Also what has not changed, for it may have read what has; and what a function imports when it is called."""
    (tmp_path / "data.txt").write_text("2")
    write_module(
        tmp_path,
        "late_of_it.py",
        "from pathlib import Path\nN = int(Path(__file__).with_name('data.txt').read_text())\n",
    )
    write_module(tmp_path, "early_of_it.py", "import late_of_it\nN = late_of_it.N\ndef f():\n    return N\n")
    write_module(tmp_path, "called_of_it.py", "def f():\n    import late_of_it\n    return late_of_it.N\n")
    for name in ("early_of_it:f", "called_of_it:f"):
        assert find(name, tmp_path).call() == 2
        (tmp_path / "data.txt").write_text("33")
        assert (find(name, tmp_path).call(), OwnFunction.find(name, tmp_path, anew=True).call()) == (2, 33)
        (tmp_path / "data.txt").write_text("2")
        sys.modules.pop("late_of_it")


def test_a_module_of_that_name_in_another_folder_is_another_one(tmp_path):
    for k in (1, 2):
        write_module(tmp_path / str(k), "same_name.py", f"def f():\n    return {k}\n")
    write_module(tmp_path / "1", "only_in_one.py", TWICE)
    assert find("only_in_one:twice", tmp_path / "1").call(1) == 2
    assert [find("same_name:f", tmp_path / str(k)).call() for k in (1, 2, 1)] == [1, 2, 1]
    find("same_name:f", tmp_path / "2")
    assert "there is no module only_in_one in" in refusal(find, "only_in_one:twice", tmp_path / "2")
    assert str(tmp_path / "1") not in sys.path


@pytest.mark.parametrize(("name", "text", "parts"), [
    ("nowhere:f", "", ("there is no module nowhere in ", "nor is one installed; run the command in the folder")),
    ("odd.inner:f", "", ("odd",)),
    ("odd.py:f", "def f(): pass", ("name the module without .py",)),
    ("odd:g", "def f(): pass", ("odd.py has nothing of that name",)),
    ("odd:f", "f = 3", ("odd.py has f, but it is no function",)),
    ("odd:f", "import not_there", ("cannot be imported: ModuleNotFoundError: No module named 'not_there'", "line 1")),
    ("odd:f", "1 / 0", ("cannot be imported: ZeroDivisionError: division by zero (", "odd.py, line 1)")),
    ("odd:f", "def f(:", ("cannot be imported: SyntaxError",)),
    ("odd:f", "raise SystemExit('a\\nb')", ("cannot be imported: SystemExit: a b",)),
    ("sys:exit", "", ("sys has no file",)),
])  # fmt: skip
def test_what_cannot_be_used_is_one_sentence(tmp_path, name, text, parts):
    write_module(tmp_path, "odd.py", text)
    sentence = refusal(find, name, tmp_path)
    assert sentence.startswith(f"--function {name}")
    assert "\n" not in sentence
    for part in parts:
        assert part in sentence


def test_a_folder_that_is_not_there_is_named(tmp_path):
    """As by a worker that does not see it."""
    assert f"the folder {tmp_path / 'gone'} that it is imported from is not there" in refusal(
        find, "odd:f", tmp_path / "gone"
    )


@pytest.mark.parametrize("text", (
    "def f(mask): pass", "def f(*, mask, seed): pass", "def f(mask, seed, rate): pass",
    "class A:\n    def f(self, mask, seed): pass\nf = A.f",
))  # fmt: skip
def test_one_that_takes_other_arguments_is_refused_with_them(tmp_path, text):
    """Once, and not as a failure of each model in a line of ours."""
    write_module(tmp_path, "takes.py", text)
    found = find("takes:f", tmp_path)
    sentence = refusal(found.check_arguments)
    assert sentence.startswith("--function takes:f: it is called with two arguments, a mask and a seed, but takes (")
    assert sentence.endswith(f"({tmp_path / 'takes.py'}); define it as f(mask, seed).")


@pytest.mark.parametrize("text", (
    "def f(mask, seed, rate=1): pass", "def f(*both): pass", "f = lambda m, s: 0",
    "class A:\n    def __call__(self, mask, seed): pass\nf = A()", "from operator import add as f",
))  # fmt: skip
def test_one_that_can_be_called_with_a_mask_and_a_seed_is_taken(tmp_path, text):
    write_module(tmp_path, "takes.py", text)
    find("takes:f", tmp_path).check_arguments()


def test_an_error_is_told_with_the_line_of_the_users_file(tmp_path):
    """And not with that of the library which raised it."""
    write_module(tmp_path, text="import json\n\n\ndef train_one(mask, seed):\n    return json.loads('{')\n")
    found = OwnFunction.find("mine:train_one", tmp_path)
    with pytest.raises(ValueError) as told:
        found.call(None, 0)
    assert in_words(told.value, found.file).endswith(f"({tmp_path / 'mine.py'}, line 5)")
    assert "decoder.py, line" in in_words(told.value)
