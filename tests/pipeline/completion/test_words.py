"""Words that are offered for the beginning of a value."""

import click
import pytest

from pipeline.cli import cli
from pipeline.commands.definitions import COMMANDS
from pipeline.completion.words import PARTIAL, ClusterAddress, Configuration, FindingName, Folder, ScoreFile, Setting
from pipeline.completion.words import files as listed


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A folder with a configuration of one's own, among others."""
    for name in ("mine.toml", "notes.txt", ".hidden.toml", "sub/other.toml", "a folder/x.npy"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[report]\nname = 'called'\n")
    monkeypatch.chdir(tmp_path)


def offered(kind, incomplete, **params):
    ctx = click.Context(COMMANDS["panel"])
    ctx.params = {"config_name": "digits", "overrides": (), **params}
    return kind.shell_complete(ctx, COMMANDS["panel"].params[0], incomplete)


def words(*arguments, **params):
    return [item.value for item in offered(*arguments, **params)]


def test_configurations_are_names_with_what_they_are_then_files_and_folders():
    assert words(Configuration(), "digits-m") == ["digits-methods"]
    assert words(Configuration(), "m") == ["mine.toml"]
    assert words(Configuration(), "su") == ["sub/"] and words(Configuration(), "sub/") == ["sub/other.toml"]
    assert words(Configuration(), ".h") == [".hidden.toml"]
    assert "notes.txt" not in words(Configuration(), "")
    assert offered(Configuration(), "digits-m")[0].help == "The embedded set, all four tests side by side."


def test_settings_come_by_section_key_and_value():
    assert words(Setting(), "te") == ["test."] and offered(Setting(), "te")[0].type == PARTIAL
    assert words(Setting(), "test.al") == ["test.alpha=", "test.allow_unexchangeable="]
    assert words(Setting(), "test.method=sw") == ["test.method=swap", "test.method=swap-exact"]
    assert words(Setting(), "fit.calibrate=") == ["fit.calibrate=true", "fit.calibrate=false"]
    assert words(Setting(), "test.alpha=") == words(Setting(), "no.such=") == words(Setting(), "zz") == []
    assert words(Setting(), "fit.file=no") == ["fit.file=notes.txt"]


def test_clusters_have_three_forms():
    assert words(ClusterAddress(), "") == ["local:", "tcp://", "slurm"]
    assert [item.type for item in offered(ClusterAddress(), "")] == [PARTIAL, PARTIAL, "plain"]
    assert words(ClusterAddress(), "local:") == []


def test_scores_are_files_or_the_configuration_s_own():
    assert words(ScoreFile(), "la") == ["lasso"]
    assert words(ScoreFile(), "trak=a") == ["trak=a folder/"]
    assert words(ScoreFile(), "trak=a folder/") == ["trak=a folder/x.npy"]


def test_files_of_a_folder_that_is_not_there_are_none():
    assert listed("nowhere/") == [] and [item.value for item in listed("not")] == ["notes.txt"]


@pytest.mark.parametrize(("params", "home"), [
    ({}, "digits"),
    ({"config_name": "mine.toml"}, "called"),
    ({"overrides": ("test.alpha=0.1", "report.name=own")}, "own"),
])  # fmt: skip
def test_findings_are_those_of_the_report(params, home, tmp_path):
    folder = tmp_path / "reports" / home
    folder.mkdir(parents=True)
    (folder / "findings.csv").write_text("number,method,i\n1,swap,5\n2,swap,6\n1,contrast,7\n")
    assert words(FindingName(), "", **params) == ["swap-1", "swap-2", "contrast-1"]
    assert words(FindingName(), "sw", **params) == ["swap-1", "swap-2"]


def test_a_variation_s_report_is_not_guessed():
    assert words(FindingName(), "", overrides=("test.alpha=0.1",)) == []


def test_a_folder_is_left_to_the_shell():
    assert [(item.value, item.type) for item in offered(Folder(), "x")] == [("x", "dir")]


def test_every_command_that_takes_such_a_value_completes_it():
    kinds = {"config_name": Configuration, "overrides": Setting, "cluster": ClusterAddress, "store": Folder}
    for command in cli.commands.values():
        for option in command.params:
            assert isinstance(option.type, kinds.get(option.name, object)), (command.name, option.name)
