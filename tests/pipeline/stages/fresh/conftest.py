"""The small set, and what fresh models say of it, each made once."""

import pytest
from small_fresh import FRESH, agreement, make_set, pipeline


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of the set; the store beside it holds the stages up to agreement."""
    return make_set(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="session")
def agreed(made):
    return agreement(made)


@pytest.fixture(scope="session")
def inputs(made, agreed):
    """Results of the stages by name, from the store."""
    names = ("download", "fit", "test", "evidence", "prior", "atlas", "influence", "fresh", "agreement")
    return pipeline(made, f"verify.fresh={FRESH}").finished(names, "agreement")
