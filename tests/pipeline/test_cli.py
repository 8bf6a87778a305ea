"""The command line: help, unknown commands, and failures."""

import subprocess
import sys
import time
from importlib.metadata import version

from real_command import SMALL, call

from pipeline.cli import cli
from pipeline.commands.definitions import COMMANDS


def test_the_table_is_the_command_line():
    """And each command is called by its name there."""
    assert cli.commands == COMMANDS
    assert [command.name for command in COMMANDS.values()] == list(COMMANDS)


def test_an_unknown_command_is_one_sentence_and_exit_code_two(tmp_path):
    done = call(tmp_path, "estimate")
    assert done.returncode == 2
    assert done.stderr.startswith("datamodels-inf: No such command 'estimate'") and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_command_and_answers_fast():
    start = time.monotonic()
    done = call(".", "--help")
    assert done.returncode == 0
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert time.monotonic() - start < 3


def test_the_version_is_one_line_and_imports_nothing_slow():
    """Of what is installed."""
    done = call(".", "--version")
    assert (done.returncode, done.stdout) == (0, f"datamodels-inf {version('datamodels-inf')}\n")
    code = (
        "import sys; from pipeline.cli import cli; cli.main(['--version'], standalone_mode=False); "
        "assert not {'numpy', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_failure_while_working_is_exit_code_one_and_verbose_shows_where(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fit").write_text("a file where a folder must be")
    done = call(tmp_path, "run", *SMALL)
    assert done.returncode == 1
    assert done.stderr.startswith("datamodels-inf: failed: ")
    assert "Traceback" not in done.stderr
    assert "Traceback" in call(tmp_path, "run", *SMALL, "--verbose").stderr
