"""`status` on an empty store."""

import pytest
from command_here import call, ok

from pipeline.commands.definitions import COMMANDS

LOOKING = ("status", "findings", "compare", "influence")
UNPUBLISHED = ("download", "fit", "test", "robustness", "verify", "findings", "compare", "influence")


def options(name):
    return {option for parameter in COMMANDS[name].params for option in parameter.opts}


def test_it_runs_nothing(tmp_path):
    lines = ok(tmp_path, "status").splitlines()
    assert lines[0] == "store data"
    assert all("would run: not run before" in line for line in lines[1:])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", LOOKING)
def test_what_runs_nothing_offers_nothing_about_running(name):
    assert not options(name) & {"--threads", "--yes", "--dry-run", "--quiet"}
    assert options("run") >= {"--threads", "--yes", "--dry-run", "--quiet", "--reports", "--force"}


@pytest.mark.parametrize("name", UNPUBLISHED)
def test_what_publishes_nothing_asks_for_no_place(name):
    assert "--reports" not in options(name)
    assert "--reports" in options("status") & options("report")


def test_an_option_without_a_use_is_refused(tmp_path):
    done = call(tmp_path, "status", "--threads", "2")
    assert done.returncode == 2 and "No such option" in done.stderr
