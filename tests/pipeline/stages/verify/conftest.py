"""A small set, made once."""

import pytest
from small_trained import make_set


@pytest.fixture(scope="session")
def small_set(tmp_path_factory):
    """A folder with the set and the design; its store is shared."""
    return make_set(tmp_path_factory.mktemp("verify"))
