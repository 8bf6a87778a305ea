"""No command takes an option that it does not use: read off the code behind each."""

import ast
import inspect
import textwrap

import click
import pytest
from command_here import call

from pipeline import cli
from pipeline.commands import findings, plan, referee, robustness, verify
from pipeline.commands.definitions import COMMANDS, shared
from pipeline.run import needed_by
from pipeline.sources.imports import base as imports
from pipeline.training.settings import Train

READ_BY_THE_PROGRAM = {"verbose"}
"""Of sys.argv, where it fails."""
LAST = {
    "run": {"report"}, "report": {"report"}, "download": {"download"}, "fit": {"fit"}, "test": {"test"},
    "robustness": {"robustness"}, "verify": {"verify", "agreement"}, "referee": {"referee-page"},
}  # fmt: skip
GIVEN_ON = {
    "findings": findings.Asked.__dataclass_fields__,
    "plan": plan.Question.__dataclass_fields__,
    "import": imports.Given.__dataclass_fields__,
    "train": Train.model_fields,
}
"""Where the rest of a command's options go, if it is not `pipeline_of`."""
TAKEN_OUT = {"verify": verify.QUESTION, "referee": referee.QUESTION, "robustness": robustness.QUESTION}
"""Options that become settings before that."""


def leaves():
    for name, command in COMMANDS.items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", sub) for below, sub in command.commands.items())
        else:
            yield name, command


every_command = pytest.mark.parametrize(("name", "command"), [pytest.param(*leaf, id=leaf[0]) for leaf in leaves()])


def parts(function):
    """(names of its parameters, name of the rest, names that its body reads)."""
    code = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    named = [a.arg for a in (*code.args.args, *code.args.kwonlyargs)]
    nodes = [node for statement in code.body for node in ast.walk(statement)]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return named, code.args.kwarg and code.args.kwarg.arg, read


def unused(function):
    named, rest, read = parts(function)
    return {name for name in (*named, rest) if name and name not in read} - READ_BY_THE_PROGRAM


def attributes(module):
    return {node.attr for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Attribute)}


@every_command
def test_every_parameter_is_read(name, command):
    assert not unused(command.callback)


@every_command
def test_what_is_passed_on_is_taken(name, command):
    named, rest, _ = parts(command.callback)
    passed = {option.name for option in command.params} - set(named) - set(TAKEN_OUT.get(name, ()))
    if rest is None:
        assert not passed
    elif name in GIVEN_ON:
        assert passed <= set(GIVEN_ON[name])
    else:
        taken, body = set(inspect.signature(shared.pipeline_of).parameters), inspect.getsource(command.callback)
        assert all(option in taken or f'"{option}"' in body for option in passed)


def test_what_takes_them_reads_them():
    assert not unused(shared.pipeline_of)
    for module, taken in ((findings, findings.Asked), (plan, plan.Question), (imports, imports.Given)):
        assert set(taken.__dataclass_fields__) <= attributes(module), module
    assert '"--verbose" in sys.argv' in inspect.getsource(cli)


def test_an_unused_parameter_is_seen():
    def command(config_name, store, verbose, **options):
        return config_name

    assert unused(command) == {"store", "options"}


@pytest.mark.parametrize("name", LAST)
def test_only_stages_that_a_command_runs_can_be_forced(name):
    (option,) = [option for option in COMMANDS[name].params if option.name == "force"]
    assert set(option.type.names()) == set().union(*map(needed_by, LAST[name]))


def test_other_commands_force_nothing():
    assert {name for name, command in leaves() if any(o.name == "force" for o in command.params)} == set(LAST)


@pytest.mark.parametrize(("words", "sentence"), [
    (("fit", "--force", "report"), "Invalid value for '--force': 'report' is not one of 'download', 'fit'; see "),
    (("run", "--force", "robustness"), "--force robustness: this configuration has no such stage; it has download, "),
    (("robustness", "--targets", "1", "--n-targets", "2"), "--targets and --n-targets cannot both be given."),
    (("images", "--path", "x", "--mirror", "http://127.0.0.1/"), "--mirror is for images that are fetched"),
    (("influence", "--target", "1", "--image", "2", "--top", "3"), "--top is for a target or a training image"),
    (("train", "--out", "set", "--workers", "1", "--cluster", "local:1"), "--workers is for processes of this machine"),
    (("verify", "--fresh", "16", "--models", "8"), "--models is for single claims"),
    (("verify", "--fresh", "16", "--method", "swap"), "--method is for single claims"),
])  # fmt: skip
def test_what_would_be_ignored_is_refused(words, sentence, tmp_path):
    done = call(tmp_path, *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"datamodels-inf: {sentence}")
    assert list(tmp_path.iterdir()) == []
