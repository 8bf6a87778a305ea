"""Answers to shells: to bash with a line as it stands, to zsh and fish by click's protocol; and never an error."""

import os
import subprocess
import sys

import pytest

from pipeline.cli import cli
from pipeline.completion.shells import PROGRAM, SHELLS, VARIABLE, script

SLOW = {"numpy", "scipy", "numba", "torch", "pandas", "pydantic", "requests", "boto3", "matplotlib"}


def answered(shell, monkeypatch, **environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return SHELLS[shell](cli, {}, PROGRAM, VARIABLE).complete().splitlines()


def asked(line, shell="bash", **environment):
    """The real command, as a script calls it."""
    words = line.split()
    there = {VARIABLE: f"{shell}_complete", "DATAMODELS_INF_LINE": line, "COMP_WORDS": line}
    there |= {"COMP_CWORD": str(len(words) - (not line.endswith(" ")))}
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "from pipeline.cli import main; main()"],
        env={**os.environ, **there, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def imported(done):
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize(("line", "word", "said"), [
    ("datamodels-inf refe", "refe", ["plain,referee"]),
    ("datamodels-inf run --set test.ta", "test.ta", ["partial,test.target_class=", "partial,test.targets=",
                                                    "partial,test.tau="]),
    ("datamodels-inf run --set test.rows=", "", ["plain,held-out", "plain,progressive"]),
    ("datamodels-inf run --set test.rows=", "=", ["plain,held-out", "plain,progressive"]),
    ("datamodels-inf run --set test.rows=p", "p", ["plain,progressive"]),
    ("datamodels-inf run --set=test.rows=p", "p", ["plain,progressive"]),
    ("datamodels-inf run --config=digits-m", "digits-m", ["plain,digits-methods"]),
    ("datamodels-inf run --cluster tc", "tc", ["partial,tcp://"]),
    ("datamodels-inf run --store some", "some", ["dir,some"]),
    ("datamodels-inf run --set 'unfinished", "'unfinished", []),
])  # fmt: skip
def test_bash_has_a_line_and_the_word_behind_the_last_break(line, word, said, monkeypatch):
    assert answered("bash", monkeypatch, DATAMODELS_INF_LINE=line, DATAMODELS_INF_WORD=word) == said


def test_bash_without_a_line_has_words(monkeypatch):
    monkeypatch.delenv("DATAMODELS_INF_LINE", raising=False)
    words = {"COMP_WORDS": "datamodels-inf run --config digits-m", "COMP_CWORD": "3"}
    assert answered("bash", monkeypatch, **words) == ["plain,digits-methods"]


def test_zsh_has_three_lines_an_item(monkeypatch):
    words = {"COMP_WORDS": "datamodels-inf run --set test.ta", "COMP_CWORD": "3"}
    assert answered("zsh", monkeypatch, **words)[:3] == ["partial", "test.target_class=", "_"]
    words = {"COMP_WORDS": "datamodels-inf refe", "COMP_CWORD": "1"}
    assert answered("zsh", monkeypatch, **words) == ["plain", "referee", cli.commands["referee"].short_help]


def test_fish_has_a_line_an_item_and_knows_no_partial_words(monkeypatch):
    words = {"COMP_WORDS": "datamodels-inf run --set test.tau", "COMP_CWORD": "test.tau"}
    assert answered("fish", monkeypatch, **words) == ["plain,test.tau="]
    words = {"COMP_WORDS": "datamodels-inf refe", "COMP_CWORD": "refe"}
    assert answered("fish", monkeypatch, **words) == [f"plain,referee\t{cli.commands['referee'].short_help}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_ask_this_command(shell):
    text = script(cli, shell)
    assert f"{VARIABLE}={shell}_complete" in text and "_datamodels_inf_completion" in text and PROGRAM in text


@pytest.mark.parametrize("line", (
    "datamodels-inf ", "datamodels-inf run --", "datamodels-inf run --config ", "datamodels-inf run --set test.method=",
    "datamodels-inf findings --method ", "datamodels-inf run --force ", "datamodels-inf panel --finding ",
))  # fmt: skip
def test_nothing_slow_is_imported(line):
    """So that an answer comes at once. A finding is looked for where no report is."""
    done = asked(line)
    modules = imported(done)
    assert done.returncode == 0 and (done.stdout.strip() or "--finding" in line)
    assert "click.shell_completion" in modules and not SLOW & modules


@pytest.mark.parametrize("environment", (
    {VARIABLE: "bash_complete", "DATAMODELS_INF_LINE": "", "COMP_CWORD": "no number"},
    {VARIABLE: "no-such-shell_complete"},
    {VARIABLE: "nonsense"},
    {"DATAMODELS_INF_LINE": "datamodels-inf panel --config /etc/shadow --finding x"},
    {"DATAMODELS_INF_LINE": "datamodels-inf panel --config broken.toml --finding x"},
    {"DATAMODELS_INF_LINE": "datamodels-inf run --config /proc/1/cwd/"},
))  # fmt: skip
def test_a_failure_is_silent(environment, tmp_path, monkeypatch):
    (tmp_path / "broken.toml").write_text("= no TOML")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    done = asked("datamodels-inf run ", **environment)
    said = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert (done.stdout.strip(), said) == ("", [])


def test_click_s_own_variable_gives_the_same_script():
    done = asked("", **{VARIABLE: "bash_source"})
    assert done.stdout == script(cli, "bash")
