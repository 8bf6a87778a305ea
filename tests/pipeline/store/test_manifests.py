"""Manifests: what they say must be of their own key, and of their own folder."""

import json
import os

import pytest

from pipeline.store.hashing import Hashing
from pipeline.store.manifests import Spec, read_fitting, read_manifest, write_manifest
from pipeline.text.sealed_json import sealed

SPEC = Spec("fit", 1, {"fit.n": 3}, {"download": "abc"})


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "fit" / SPEC.key
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("hello")
    write_manifest(folder, SPEC, {}, {}, seconds=1.0, origin="", hashing=Hashing())
    return folder / "manifest.json"


def test_a_manifest_is_read_as_it_was_written(path):
    assert read_manifest(path)["files"]["a.txt"]["bytes"] == 5
    assert read_fitting(path) == read_manifest(path)


@pytest.mark.parametrize("change", (
    {"settings": {"fit.n": 4}}, {"version": 2}, {"inputs": {}}, {"stage": "test"}, {"key": "0" * 16},
    {"files": {"../a.txt": {}}}, {"files": {"/etc/passwd": {}}}, {"files": {"": {}}}, {"files": 3}, {"settings": 0.5},
))  # fmt: skip
def test_one_that_is_not_of_its_own_key_is_none(path, change):
    """Though its checksum is right."""
    manifest = json.loads(path.read_text()) | change
    path.write_text(json.dumps(sealed(manifest)) + "\n")
    assert read_manifest(path) is None


def test_not_a_byte_may_be_missing(path):
    content = path.read_bytes()
    for length in (len(content) - 1, len(content) - 2, len(content) // 2, 0):
        path.write_bytes(content[:length])
        assert read_manifest(path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_none_and_is_not_waited_for(path):
    path.unlink()
    os.mkfifo(path)
    assert read_manifest(path) is None


def test_one_in_the_folder_of_another_does_not_fit(path):
    other = path.parent.with_name("f" * 16)
    path.parent.rename(other)
    assert read_manifest(other / "manifest.json") is not None
    assert read_fitting(other / "manifest.json") is None
    (other / "manifest.json").unlink()
    assert read_fitting(other / "manifest.json") is None
