"""A set that `train` made: its manifest, its digests, its margins in steps, its images, and what is not one."""

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from numbered_set import made_once, small

from pipeline.errors import BadInputError
from pipeline.sources.array_files import open_files
from pipeline.sources.trained import FORMAT, content_of_files, trained_files

__all__ = ["made_once", "small"]

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
    arrays = open_files(files)
    bits = arrays.masks.bits(np.array([29, 3]))
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
        open_files(trained_files(folder, None))


def _without_images(folder):
    return replace(trained_files(folder, None), images=None)


def test_a_manifest_of_another_set_is_noticed_before_anything_is_read(folder):
    """What is cached of this set would be taken on, and fresh models trained as the other one says."""
    assert content_of_files(_without_images(folder))
    manifest = json.loads((folder / "manifest.json").read_text())
    digests = {**manifest["sha256"], "margins.npy": "0" * 64}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "sha256": digests}))
    with pytest.raises(BadInputError, match=r"margins\.npy is damaged: .*manifest\.json \(or that is of"):
        content_of_files(_without_images(folder))


def test_bits_of_another_number_of_images_are_refused(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "job": {"n_train": 17}}))
    with pytest.raises(BadInputError, match=r"masks\.npy does not hold the bits of 17 images per row"):
        open_files(trained_files(folder, None))


@pytest.mark.parametrize(
    "text",
    ("", "[]", "[" * 99_999, "3", "{}", '{"format": "another"}', f'{{"format": "{FORMAT}"}}',
     f'{{"format": "{FORMAT}", "job": {{"n_train": "many"}}, "sha256": {{}}}}',
     f'{{"format": "{FORMAT}", "job": {{"n_train": 11, "margin_step": 0}}, "sha256": {{}}}}',
     f'{{"format": "{FORMAT}", "job": {{"n_train": 11, "margin_step": NaN}}, "sha256": {{}}}}',
     f'{{"format": "{FORMAT}", "job": {{"n_train": 11, "margin_step": "0.1"}}, "sha256": {{}}}}'),
)  # fmt: skip
def test_another_manifest_is_not_believed(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(BadInputError, match="is not one that datamodels-inf train wrote; make the set again"):
        trained_files(folder, None)


def rewrite(folder, margins, **job):
    """Other margins, and more of a job."""
    np.save(folder / "margins.npy", margins)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"]["margins.npy"] = hashlib.sha256((folder / "margins.npy").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps({**manifest, "job": {**manifest["job"], **job}}))


@pytest.mark.parametrize("dtype", (np.int8, np.int16))
def test_whole_numbers_are_multiples_of_the_step(folder, dtype):
    largest = np.iinfo(dtype).max
    codes = np.random.default_rng(1).integers(-largest, largest, (30, 2), endpoint=True).astype(dtype)
    rewrite(folder, codes, margin_step=0.1)
    arrays = open_files(trained_files(folder, None))
    found = arrays.outcomes.values(np.array([7, 29]))
    assert found.dtype == arrays.outcomes.dtype == np.float32
    np.testing.assert_array_equal(found, codes[[7, 29]].astype(np.float32) * np.float32(0.1))
    np.testing.assert_allclose(found, codes[[7, 29]] * 0.1, rtol=2e-7)


@pytest.mark.parametrize(("dtype", "step", "said"), [
    (np.int8, None, r"margins\.npy must hold floats of shape \(30, n_targets\), one row per mask, but it holds int8"),
    (np.float16, 0.1, r"must hold int8 or int16, multiples of its manifest's margin_step 0\.1, of shape .* float16"),
    (np.int32, 0.1, "must hold int8 or int16, .* but it holds int32"),
    (np.uint8, 0.1, "must hold int8 or int16, .* but it holds uint8"),
])  # fmt: skip
def test_margins_and_step_must_go_together(folder, dtype, step, said):
    rewrite(folder, np.zeros((30, 2), dtype), margin_step=step)
    with pytest.raises(BadInputError, match=said):
        open_files(trained_files(folder, None))


def test_the_step_is_part_of_the_content(folder):
    (folder / "images.npz").write_bytes(b"images")
    rewrite(folder, np.ones((30, 2), np.int8), margin_step=0.1)
    first = content_of_files(trained_files(folder, None))
    rewrite(folder, np.ones((30, 2), np.int8), margin_step=0.2)
    second = content_of_files(trained_files(folder, None))
    assert {name for name in first if first[name] != second[name]} == {"margin step"}
    rewrite(folder, np.ones((30, 2), np.float16), margin_step=None)
    assert "margin step" not in content_of_files(trained_files(folder, None))


def test_images_are_its_own_or_numbered_or_a_copy_held_against_the_manifest(folder):
    rewrite(folder, np.zeros((30, 2), np.float32), features={"patch": 6}, images_sha256="a" * 64)
    files = trained_files(folder, None)
    assert (files.images, files.numbered.features, files.numbered.sha256) == (None, folder / "features.npz", "a" * 64)
    with pytest.raises(BadInputError, match=r"features\.npz does not exist; the source is not complete"):
        content_of_files(files)
    (folder / "features.npz").write_bytes(b"features")
    assert content_of_files(files)["content of images"] == "CIFAR-10"
    (folder / "copy.npz").write_bytes(b"copy")
    copied = trained_files(folder, folder / "copy.npz")
    assert (copied.images, copied.numbered.copy) == (None, folder / "copy.npz")
    assert content_of_files(copied)["content of images"] == hashlib.sha256(b"copy").hexdigest()
    (folder / "images.npz").write_bytes(b"images")
    assert trained_files(folder, None).numbered is None
    assert trained_files(folder, None).images == folder / "images.npz"


def test_packed_multiples_are_read_and_damage_is_named(made_once, tmp_path):
    shutil.copytree(made_once, tmp_path / "set")
    files = trained_files(tmp_path / "set", None)
    assert files.margins.name == "margins.npz"
    with np.load(files.margins) as packed:
        multiples = packed["multiples"]
    arrays = open_files(files)
    rows = np.array([3, 0, 599])
    np.testing.assert_array_equal(arrays.outcomes.values(rows), multiples.T[rows].astype(np.float32) * np.float32(0.1))
    files.margins.write_bytes(files.margins.read_bytes()[:-40])
    with pytest.raises(BadInputError, match=r"margins\.npz is not a whole set of margins"):
        open_files(replace(files, digests={}))
    with pytest.raises(BadInputError, match=r"margins\.npz is damaged: its checksum"):
        open_files(files)
