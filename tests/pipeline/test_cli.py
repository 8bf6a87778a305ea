"""The command line: help, bad input, failures, plans and configurations."""

import time

import pytest
from real_command import SMALL, call, ok


@pytest.mark.parametrize(("arguments", "part"), [
    (("simulate", "sizes"), "'sizes' is not one of"),
    (("simulate", "--reps", "0"), "Invalid value for '--reps': 0 is not in the range"),
    (("simulate", "--reps", "many"), "'many' is not a valid integer"),
    (("simulate", "--seed", "-1"), "Invalid value for '--seed'"),
    (("simulate", "--bogus"), "No such option"),
    (("estimate",), "No such command 'estimate'"),
])  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_two(arguments, part, tmp_path):
    done = call(tmp_path, *arguments)
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_command_and_answers_fast():
    start = time.monotonic()
    done = call(".", "--help")
    assert done.returncode == 0
    assert "simulate" in done.stdout
    assert time.monotonic() - start < 3
    assert call(".", "--version").stdout.startswith("datamodels-inf, version ")


def test_a_failure_while_working_is_exit_code_one_and_verbose_shows_where(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fit").write_text("a file where a folder must be")
    done = call(tmp_path, "run", *SMALL)
    assert done.returncode == 1
    assert done.stderr.startswith("datamodels-inf: failed: ")
    assert "Traceback" not in done.stderr
    assert "Traceback" in call(tmp_path, "run", *SMALL, "--verbose").stderr


def test_plan_and_config(tmp_path):
    output = ok(tmp_path, "plan", "--effect", "0.5", "--alpha", "0.001")
    counts = [int(line.split()[-1].replace(",", "")) for line in output.splitlines()[1:]]
    assert counts == sorted(counts, reverse=True)
    done = call(tmp_path, "plan", "--effect", "0")
    assert (done.returncode, done.stderr) == (
        2,
        "datamodels-inf: --effect must be a finite number other than 0, but it is 0.0.\n",
    )
    assert 'method = ["swap"]' in ok(tmp_path, "config", "show")
    assert "alpha = 0.05" in ok(tmp_path, "config", "show", "--set", "test.alpha=0.05")
    listed = ok(tmp_path, "config", "list").splitlines()
    assert any(line.startswith("cifar10-study ") and "the models come with the package" in line for line in listed)
