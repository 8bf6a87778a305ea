"""The commands that run the stages up to one of them."""

import pytest
from command_here import ok
from real_command import SMALL, states

UP_TO = {"download": ["download"], "fit": ["download", "fit"], "test": ["download", "fit", "test"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stages")


@pytest.mark.parametrize("command", UP_TO)
def test_a_stage_command_runs_what_it_needs_and_nothing_after_it(folder, command):
    said = states(ok(folder, command, *SMALL))
    assert list(said) == UP_TO[command]
    assert said[command] == "running" and not (folder / "reports").exists()
