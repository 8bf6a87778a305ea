"""The user's home is ~ in what is printed, and works when it is typed; what is shared tells no folder at all."""

import shlex
import subprocess

import pytest

from pipeline.text.own_paths import command_in_report, in_report, shareable, without_home


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    folder = tmp_path / "home" / "anna"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize(
    ("text", "shown"),
    (
        ("{}/a.toml", "~/a.toml"),
        ("store {}", "store ~"),
        ("in {}.", "in ~."),
        ("in {}/x, {}/y;", "in ~/x, ~/y;"),
        ("--set source.folder={}/x", "--set source.folder=~/x"),
        ("file://{}/x", "file://~/x"),
        ("{}-backup/x {}x/y {}.old", "{}-backup/x {}x/y {}.old"),
        ("/mnt{}/x", "/mnt{}/x"),
        ("'{}/x' is no set", "'~/x' is no set"),
    ),
)
def test_the_home_is_a_tilde_and_its_neighbours_are_not(home, text, shown):
    places = [home] * 3
    assert without_home(text.format(*places)) == shown.format(*places)


@pytest.mark.parametrize("name", ("a.toml", "my study.toml", "it's (2).toml"))
def test_a_command_that_is_shown_works_when_it_is_typed(home, name):
    (home / name).write_text("here", encoding="utf-8")
    shown = without_home(shlex.join(["cat", str(home / name)]))
    assert str(home) not in shown
    done = subprocess.run(["sh", "-c", shown], capture_output=True, text=True, check=False, env={"HOME": str(home)})
    assert done.stdout == "here"


def test_no_home_of_its_own_is_no_home(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    assert without_home("/etc/x and /") == "/etc/x and /"


def test_what_is_shared_has_no_folders(home):
    found = {"folder": "/mnt/lab/set", "mine": f"{home}/set", "own": "set/x", "url": "https://me@h/a/b", "n": 3}
    assert in_report(found) == {"folder": "set", "mine": "~/set", "own": "set/x", "url": "https://***@h/a/b", "n": 3}
    assert shareable(found)["folder"] == "/mnt/lab/set"
    assert in_report(in_report(found)) == in_report(found)


def test_a_command_in_a_report(home):
    command = shlex.join(["datamodels-inf", "run", "--config", f"{home}/a b.toml", "--set", "fit.file=/mnt/w.pt"])
    assert command_in_report(command) == "datamodels-inf run --config '~/a b.toml' --set fit.file=w.pt"
    assert command_in_report(command_in_report(command)) == command_in_report(command)
