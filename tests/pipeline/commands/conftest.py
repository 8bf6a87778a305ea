"""A finished atlas that the tests of two modules read."""

import pytest
from command_here import ok
from small_atlas import ALL, words, write_source


@pytest.fixture(scope="session")
def estimated_source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("estimated"))


@pytest.fixture(scope="session")
def estimated_run(estimated_source, tmp_path_factory):
    """A folder whose store has the atlas of all targets, with findings over each target and over all."""
    folder = tmp_path_factory.mktemp("atlas")
    for family in ("target", "all"):
        ok(folder, "run", *words(estimated_source, ALL, f"atlas.family={family}", "report.max_panels=0"))
    return folder
