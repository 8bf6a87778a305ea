"""`completion` in a real bash, as a function and behind the key Tab."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest
from command_here import call, ok
from real_command import COMMAND

from pipeline.cli import cli
from pipeline.completion.shells import SHELLS, script

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash here")


@pytest.fixture
def home(tmp_path):
    """A folder with the command in its bin, and an environment that finds it."""
    program = tmp_path / "bin" / "datamodels-inf"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {COMMAND[0]} -c "{COMMAND[2]}" "$@"\n')
    program.chmod(0o755)
    (tmp_path / "my own.toml").touch()
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    settings = {"PATH": path, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "INPUTRC": os.devnull}
    return tmp_path, {**os.environ, **settings, "TERM": "dumb", "PS1": "> "}


def replies(home, line, word):
    """What bash's function leaves in COMPREPLY, a word a line."""
    folder, environment = home
    code = (
        'source <(datamodels-inf completion bash); COMP_LINE="$1"; COMP_POINT=${#1}; COMP_WORDS=($1); '
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _datamodels_inf_completion datamodels-inf "$2"; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [BASH, "--norc", "-c", code, "bash", line, word], cwd=folder, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_it_prints_the_script(shell, tmp_path):
    assert ok(tmp_path, "completion", shell) == script(cli, shell)


def test_a_shell_that_is_not_known_is_refused(tmp_path):
    done = call(tmp_path, "completion", "tcsh")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in done.stderr


@needs_bash
@pytest.mark.parametrize(("line", "word", "said"), [
    ("datamodels-inf r", "r", ["run", "report", "robustness", "referee"]),
    ("datamodels-inf run --st", "--st", ["--store"]),
    ("datamodels-inf run --config digits-m", "digits-m", ["digits-methods"]),
    ("datamodels-inf run --config my", "my", [r"my\ own.toml"]),
    ("datamodels-inf run --set test.correction=b", "b", ["by", "bh", "bonferroni"]),
    ("datamodels-inf fit --force f", "f", ["fit"]),
    ("datamodels-inf train --dataset c", "c", ["cifar10"]),
    ("datamodels-inf nothing --x", "--x", [""]),
])  # fmt: skip
def test_bash_is_answered(home, line, word, said):
    assert replies(home, line, word) == said


@needs_bash
def test_a_name_that_a_shell_would_run_is_quoted(home):
    folder, environment = home
    evil = "evil$(touch${IFS}ran)`touch${IFS}ran`;&'*.toml"
    (folder / evil).touch()
    (said,) = replies(home, "datamodels-inf run --config evil", "evil")
    typed = subprocess.run(
        [BASH, "-c", f"printf %s {said}"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert (typed.stdout, typed.stderr) == (evil, "")
    assert not (folder / "ran").exists()


@needs_bash
def test_names_that_no_line_can_hold_are_left_out(home):
    folder, _ = home
    (folder / "two\nlines.toml").touch()
    (folder / os.fsdecode(b"\xffbytes.toml")).touch()
    assert "digits" in replies(home, "datamodels-inf run --config ", "")
    assert replies(home, "datamodels-inf run --config two", "two") == [""]


@needs_bash
def test_a_home_folder_stays_one(home):
    folder, environment = home
    environment["HOME"] = str(folder)
    assert replies(home, "datamodels-inf run --config ~/my", "~/my") == [r"~/my\ own.toml"]


@needs_bash
def test_words_alone_are_enough_for_bash(home):
    folder, environment = home
    code = (
        "source <(datamodels-inf completion bash); COMP_WORDS=(datamodels-inf run --config digits-m); COMP_CWORD=3; "
        '_datamodels_inf_completion; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run([BASH, "--norc", "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("digits-methods\n", "")


def until(terminal, text, seconds=60):
    """What is written there, until it has a text."""
    said, end = "", time.monotonic() + seconds
    while text not in said:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"{text!r} was not in {said!r}"
        said += os.read(terminal, 1 << 16).decode()
    return said


@needs_bash
def test_the_key_tab_completes_a_line_that_readline_breaks_in_words(home):
    folder, environment = home
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(BASH, ["bash", "--norc", "--noprofile", "-i"], environment)
    try:
        until(terminal, "> ")
        os.write(terminal, b"source <(datamodels-inf completion bash); echo rea''dy\n")
        until(terminal, "ready\r\n> ")
        os.write(terminal, b"datamodels-inf run --set test.corr\t")
        until(terminal, "test.correction=")
        os.write(terminal, b"clo\t")  # Without a blank in between.
        until(terminal, "closed-by ")
        os.write(terminal, b"--config=digits-m\t")
        until(terminal, "--config=digits-methods ")
    finally:
        os.write(terminal, b"\x15exit\n")
        os.waitpid(pid, 0)
        os.close(terminal)
