"""Runs that many tests look at, each made once."""

import shutil

import pytest
import warm
from clustered_images import write_clusters
from real_command import SMALL
from warm import ok


@pytest.fixture(scope="session", autouse=True)
def processes_that_start_at_once():
    """To train models, a command starts processes, which would import torch for seconds each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.places.processes.get_context", warm.context)
        yield


@pytest.fixture(scope="session")
def default_run(tmp_path_factory):
    """A folder in which the default configuration has been run, and what it said."""
    folder = tmp_path_factory.mktemp("run")
    return folder, ok(folder, "run")


@pytest.fixture(scope="session")
def small_run_as_made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    ok(folder, "run", *SMALL)
    return folder


@pytest.fixture
def small_run(small_run_as_made, tmp_path):
    """A folder with the small configuration run in it; its store may be harmed."""
    shutil.copytree(small_run_as_made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="session")
def clusters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    for name in ("alike", "unlike"):
        write_clusters(folder / name, alike=name == "alike")
    return folder
