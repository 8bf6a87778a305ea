"""A pipe whose reader has gone, in real processes: without a word, and with the status of SIGPIPE."""

import os
import subprocess
import sys

import pytest
from real_command import COMMAND, SMALL, STAGES, ok, states

from pipeline.closed_pipe import ClosedPipeError, echo, named

SHORT = (["--help"], ["--version"], ["config", "show"], ["plan", "--effect", "0.5"], ["status"], ["run", "--help"])


def into_closed_pipe(folder, *words, read=0, **environment):
    """(exit code, errors) of a command whose output is read for so many bytes, and then no more."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, **environment}}
    with subprocess.Popen([*COMMAND, *words], cwd=folder, **pipes) as process:
        process.stdout.read(read)
        process.stdout.close()
        errors = process.stderr.read().decode()
        return process.wait(timeout=120), errors


@pytest.mark.parametrize("words", SHORT, ids=" ".join)
def test_little_output(tmp_path, words):
    """It waits in a buffer until the end."""
    assert into_closed_pipe(tmp_path, *words) == (141, "")


def test_output_that_is_not_buffered(tmp_path):
    assert into_closed_pipe(tmp_path, "config", "show", PYTHONUNBUFFERED="1") == (141, "")


def test_findings_for_other_programs(small_run):
    assert into_closed_pipe(small_run, "findings", *SMALL, "--set", "test.alpha=0.99", "--csv", read=10) == (141, "")
    shell = ["bash", "-c", 'set -o pipefail; "$@" | head -n 0', "-", *COMMAND, "findings", *SMALL, "--csv"]
    done = subprocess.run(shell, cwd=small_run, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_run_stops_and_the_next_one_goes_on(tmp_path):
    assert into_closed_pipe(tmp_path, "run", *SMALL) == (141, "")
    assert not list(tmp_path.glob("data/*/.tmp-*"))
    assert states(ok(tmp_path, "run", *SMALL))["report"] == "running"
    assert set(states(ok(tmp_path, "run", *SMALL))) == set(STAGES)


def test_a_copy_that_cannot_be_told_of_is_no_trouble_with_a_folder(tmp_path):
    """`get_images` looks for trouble with files, of which a broken pipe is one."""
    done = into_closed_pipe(tmp_path, "images", "--mirror", "http://127.0.0.1:1/", NO_PROXY="*")
    assert done == (141, "")


def test_a_bad_word_is_still_bad_input(tmp_path):
    """Nothing was to be printed, so nobody missed it."""
    code, errors = into_closed_pipe(tmp_path, "run", "--bogus")
    assert code == 2 and "No such option" in errors


def test_a_connection_that_breaks_is_a_failure():
    with pytest.raises(ConnectionError, match="the other side closed"), named():
        raise BrokenPipeError
    assert not issubclass(ClosedPipeError, OSError)


def test_no_line_moves_the_cursor(capsys):
    echo("a\x1b[2Jb")
    echo("c\x9b0m", err=True)
    assert tuple(capsys.readouterr()) == ("a\ufffd[2Jb\n", "c\ufffd0m\n")


@pytest.mark.parametrize("encoding", ("ascii", "latin-1", "utf-8"))
def test_a_console_of_few_letters_gets_others(encoding):
    """`echo`, and what click and the bars print by themselves."""
    code = (
        "import click, sys; from pipeline.closed_pipe import echo, forgive_letters; forgive_letters(); "
        "echo('20 → 30 …'); echo('×', err=True); sys.stdout.write('→\\n'); click.echo('→')"
    )
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    first = done.stdout.decode("utf-8").splitlines()[0]
    assert first == ("20 → 30 …" if encoding == "utf-8" else "20 -> 30 ...")
    assert done.stderr.decode(encoding).strip() == ("x" if encoding == "ascii" else "×")


def test_nothing_secret_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna")
    echo("/home/anna/x of https://me:pw@host/a?sig=abc is \x1b[31mred")
    assert capsys.readouterr().out == "~/x of https://***@host/a?sig=*** is �[31mred\n"
