"""A source and its refereed store, made once."""

import pytest
from small_refereed import pipeline, write_source


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("refereed") / "cifar")


@pytest.fixture(scope="session")
def store(source, tmp_path_factory):
    """With the referee's page."""
    store = tmp_path_factory.mktemp("store")
    pipeline(source, store).run("referee-page")
    return store
