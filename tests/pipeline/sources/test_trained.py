"""A set that `train` made: its manifest, its digests, and what is not one."""

import hashlib
import json

import numpy as np
import pytest

from pipeline.errors import BadInputError
from pipeline.sources.array_files import Arrays
from pipeline.sources.trained import FORMAT, trained_files

MASKS = np.random.default_rng(0).random((30, 11)) < 0.5


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "masks.npy", np.packbits(MASKS, axis=1))
    np.save(tmp_path / "margins.npy", np.zeros((30, 2), np.float32))
    digests = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("masks.npy", "margins.npy")
    }
    manifest = {"format": FORMAT, "job": {"n_train": 11}, "sha256": digests}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def test_bits_are_read_as_they_lie_there(folder):
    files = trained_files(folder, None)
    assert (files.n_train, files.images, files.completed) == (11, folder / "images.npz", None)
    arrays = Arrays.of(files)
    bits = arrays.bits(np.array([29, 3]))
    np.testing.assert_array_equal(np.unpackbits(bits, axis=1, count=11), MASKS[[29, 3]])
    assert trained_files(folder, folder / "mine.npz").images == folder / "mine.npz"


def test_a_vector_of_completed_models_is_found_beside_the_masks(folder):
    np.save(folder / "_completed.npy", np.ones(30, bool))
    assert trained_files(folder, None).completed == folder / "_completed.npy"


@pytest.mark.parametrize("name", ("masks.npy", "margins.npy"))
def test_one_changed_byte_is_noticed(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(BadInputError, match=f"{name} is damaged: its checksum is not that of its manifest"):
        Arrays.of(trained_files(folder, None))


def test_bits_of_another_number_of_images_are_refused(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "job": {"n_train": 17}}))
    with pytest.raises(BadInputError, match=r"masks\.npy does not hold the bits of 17 images per row"):
        Arrays.of(trained_files(folder, None))


@pytest.mark.parametrize(
    "text",
    ("", "[]", "3", "{}", '{"format": "another"}', f'{{"format": "{FORMAT}"}}',
     f'{{"format": "{FORMAT}", "job": {{"n_train": "many"}}, "sha256": {{}}}}'),
)  # fmt: skip
def test_another_manifest_is_not_believed(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(BadInputError, match="is not one that datamodels-inf train wrote; make the set again"):
        trained_files(folder, None)
