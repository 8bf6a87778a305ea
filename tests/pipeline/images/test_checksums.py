"""What is not the whole of CIFAR-10 is refused."""

import os
from pathlib import Path

import pytest
from places import MINI
from small_cifar10 import Said, refusal

from pipeline.images.find import CIFAR10, get_images
from pipeline.images.image_set import ImageSet

REAL_COPY = os.environ.get("DATAMODELS_CIFAR10_COPY")


def test_other_image_sets_are_refused(get, small, tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name, content in small.pickles.items():
        (folder / name).write_bytes(content)
    (folder / "test_batch").write_bytes(small.pickles["data_batch_1"])
    sentence = refusal(get, path=folder)
    assert f"{folder} has 200 training and 40 test images" in sentence
    assert "not the whole CIFAR-10" in sentence
    assert not (tmp_path / "store" / "cifar10.npz").exists()
    assert "nowhere is neither a folder nor a file" in refusal(get, path=tmp_path / "nowhere")


@pytest.mark.skipif(not MINI.is_dir(), reason="shared/cifar10-mini is not here")
def test_the_mini_set_is_not_the_whole_of_cifar10(get):
    sentence = refusal(get, path=MINI, known=CIFAR10)
    assert "5,000 training and 1,000 test images" in sentence


@pytest.mark.skipif(REAL_COPY is None, reason="DATAMODELS_CIFAR10_COPY names no copy of CIFAR-10 on this machine")
def test_a_real_copy_has_the_known_checksum(tmp_path):
    said = Said()
    file = get_images(tmp_path, path=Path(REAL_COPY), say=said, quiet=True)
    assert said.one("50,000 training and 10,000 test images, verified")
    assert ImageSet.load(file).train.shape == (50_000, 32, 32, 3)
