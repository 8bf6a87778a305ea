"""Fixtures: the released layout, as files and in a bucket on a real server."""

import os

import pytest
from released_bucket import BUCKET, KEYS, Released
from released_layout import released
from servers import ENVIRONMENT, s3_server

import pipeline.remote.objects as objects


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch):
    monkeypatch.setattr(objects, "FIRST_PAUSE", 0.01)


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    released(folder / "cifar", n=4000, d=500, targets=50)
    return folder


@pytest.fixture
def bucket(source, monkeypatch):
    for name in [n for n in os.environ if n.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with s3_server() as (url, door, log):
        made = Released(source, url, door, log)
        made.client.create_bucket(Bucket=BUCKET)
        for key in KEYS:
            made.put(key, (source / "cifar" / key).read_bytes())
        yield made
