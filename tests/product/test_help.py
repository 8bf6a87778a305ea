"""Every page of `--help`, found by walking the commands: it fits, and its examples are lines that the command takes."""

import re

import click
import pytest
from command_here import call, ok

from pipeline.cli import cli
from pipeline.commands.definitions import COMMANDS, TASKS
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.help_pages import example_words
from pipeline.named_configs import named_configs

COLUMNS = 80
SHELL = re.compile(r"^source <\((.*)\)")
NEEDS_NOTHING = ("check", "config list", "config show", "plan", "status", "completion")
"""Commands whose examples run on an empty folder, at once."""


def walk(command, words=()):
    """(words, command) of the program itself and of everything below it."""
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, (*words, name))


PAGES = dict(walk(cli))
EXAMPLES = [(" ".join(words), line) for words, command in PAGES.items() for line in command.examples]
every_page = pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "the program")


def page(words, monkeypatch, tmp_path, columns=COLUMNS):
    monkeypatch.setenv("COLUMNS", str(columns))
    return ok(tmp_path, *words, "--help")


def given(line):
    """The words behind `datamodels-inf` in an example, up to where its output goes."""
    words = example_words(SHELL.sub(r"\1", line).replace("COMMAND", "run"))
    ends = [place for place, word in enumerate(words) if word in (">", ">>", "|")]
    assert words[0] == "datamodels-inf", line
    return words[1 : min(ends, default=None)]


def parsed(words):
    """(the command's name, its values) as click reads them, with all checks; nothing is executed."""
    command, name = cli, "datamodels-inf"
    while isinstance(command, click.Group):
        with command.make_context(name, list(words)) as ctx:
            name, command, words = command.resolve_command(ctx, list(words))
    with command.make_context(name, list(words)) as ctx:
        return name, ctx.params


def test_the_tree_is_walked():
    assert {("run",), ("config", "show"), ("completion",)} < set(PAGES) and len(PAGES) > 24


@every_page
@pytest.mark.parametrize("columns", (60, COLUMNS, 120))
def test_it_fits(words, columns, monkeypatch, tmp_path):
    """On narrow terminals everything is wrapped but examples and choices, which must stay whole."""
    lines = page(words, monkeypatch, tmp_path, columns).splitlines()
    whole = [line for line in lines if line[2:] in PAGES[words].examples or "|" in line]
    assert all(len(line) <= min(columns, COLUMNS) for line in lines if line not in whole)
    assert all(len(line) <= COLUMNS for line in whole)


@every_page
def test_it_says_what_it_does_and_how(words, monkeypatch, tmp_path):
    text = page(words, monkeypatch, tmp_path)
    first = PAGES[words].help.partition("\n\n")[0]
    assert len(" ".join(first.split())) <= 120 and first.rstrip().endswith((".", "?"))
    assert re.findall(r"^(\w.*):$", text, re.MULTILINE)[0] == "Examples"
    assert PAGES[words].examples and all(f"  {line}\n" in text for line in PAGES[words].examples)


@every_page
def test_every_option_says_what_it_is(words):
    for option in PAGES[words].params:
        if isinstance(option, click.Option):
            said = re.sub(r"\[.*\]", "", option.help or "").strip()
            assert said, f"{option.opts} has no text beside its default"
            assert said[0].isupper() and said.endswith((".", "…")), option.opts
            assert "default" not in option.help or option.default is None or not option.show_default
            number = isinstance(option.type, (click.types.IntParamType, click.types.FloatParamType))
            assert not number or option.metavar, f"{option.opts} shows {option.type.name}"


def test_commands_are_each_in_one_section_and_on_one_line(monkeypatch, tmp_path):
    text = page((), monkeypatch, tmp_path)
    listed = [name for commands in TASKS.values() for name in commands]
    assert sorted(listed) == sorted(set(listed)) == sorted(cli.commands)
    assert [heading for heading in TASKS if f"\n{heading}:\n" in text] == list(TASKS)
    for name, command in COMMANDS.items():
        assert f"\n  {name:<10}  {command.short_help}\n" in text, name
    assert "..." not in text.partition("Examples")[2] and "…" not in text


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_examples_are_taken(name, line):
    """By the command's own parser; and their settings by the configuration, where that ships."""
    try:
        command, values = parsed(given(line))
    except click.exceptions.Exit:  # --help
        return
    config = values.get("config_name") or "digits"
    if config in named_configs() and command != "train":
        load_config(config, values.get("overrides", ()))
    else:
        assert config.endswith(".toml") or command == "train"


@pytest.mark.parametrize("name", [name for name in map(" ".join, PAGES) if name])
def test_examples_are_of_the_command(name):
    """One at least; others may say what comes before or after."""
    assert any(" ".join(given(line)).startswith(name) for at, line in EXAMPLES if at == name)


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, line in EXAMPLES if " ".join(given(line)).startswith(NEEDS_NOTHING)]
)
def test_examples_that_need_nothing_run(name, line, tmp_path):
    assert ok(tmp_path, *given(line))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", (["run", "--confg", "x"], ["rnu"], ["plan", "--effect", "a"], ["run", "--set", "x"]))
def test_a_wrong_example_would_be_seen(words):
    with pytest.raises((click.ClickException, BadInputError), match=r"No such|not a valid|section\.key"):
        load_config("digits", parsed(words)[1]["overrides"])


def test_without_a_command_the_page_is_shown_and_the_code_is_2(tmp_path):
    done = call(tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith("Usage: datamodels-inf [OPTIONS] COMMAND")


@pytest.mark.parametrize(("words", "sentence"), [
    (("rnu",), "No such command 'rnu'. Did you mean 'run'?"),
    (("run", "--confg", "x"), "No such option '--confg'. Did you mean '--config'?"),
    (("config", "shw"), "No such command 'shw'. Did you mean 'show'?"),
    (("run", "digits"), "Got unexpected extra argument (digits); see datamodels-inf run --help."),
    (("init",), "Missing argument 'FOLDER'; see datamodels-inf init --help."),
    (("completion",), "Missing argument 'SHELL'. Choose from: bash, zsh, fish; see datamodels-inf completion --help."),
    (("verify", "--pair", "1", "2", "--target", "3:0"), "Invalid value for '--target': '3:0' is not a whole number; "),
    (("run", "--set", "tst.k=1"), "configuration digits: tst is not a setting (did you mean test?); allowed are "),
    (("run", "--set", "test.alhpa=0.1"),
     "configuration digits: test.alhpa is not a setting (did you mean alpha?); allowed are "),
    (("run", "--set", "test.zzz=0.1"), "configuration digits: test.zzz is not a setting; allowed are "),
    (("run", "--config", "digts"), "--config digts: no configuration of that name (did you mean digits?); there are "),
    (("run", "--config", "zzz"), "--config zzz: no configuration of that name; there are cifar10, "),
])  # fmt: skip
def test_a_slip_is_one_sentence_that_helps(words, sentence, tmp_path):
    done = call(tmp_path, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"datamodels-inf: {sentence}")
    assert list(tmp_path.iterdir()) == []
