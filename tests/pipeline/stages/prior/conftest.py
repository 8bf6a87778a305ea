"""A source, and what the stages made of it, once."""

import pytest
from small_atlas import write_source
from small_prior import pipeline


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """24 images and 40 targets, 200 fit rows and 500 held-out ones."""
    return write_source(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="session")
def prior(source, store):
    """The result of the stage prior."""
    return pipeline(source, store).run("prior")
