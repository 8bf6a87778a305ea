"""What models see: pixels as floats, features that are kept, and damaged files."""

from dataclasses import replace

import numpy as np
import pytest
from small_cifar10 import refusal
from small_features import FEATURES, LABELS

from pipeline.images.image_set import ImageSet, Labels, as_float
from pipeline.store.files import save_arrays
from pipeline.training.inputs import FEATURE_ARRAYS, Features, Inputs, images_digest


def small_images(**changes):
    pixels = np.random.default_rng(1).integers(0, 256, (10, 4, 4, 3), dtype=np.uint8)
    arrays = {"train": pixels[:6], "targets": pixels[6:], **vars(LABELS), **changes}
    return ImageSet(**arrays)


def test_features_come_back_as_they_were(tmp_path):
    FEATURES.save(tmp_path / "features.npz")
    found = Features.load(tmp_path / "features.npz")
    for name in FEATURE_ARRAYS:
        assert getattr(found, name).dtype == getattr(FEATURES, name).dtype
        np.testing.assert_array_equal(getattr(found, name), getattr(FEATURES, name))
    assert found.labels.class_names == LABELS.class_names
    np.testing.assert_array_equal(found.labels.train_labels, LABELS.train_labels)
    np.testing.assert_array_equal(Labels.load(tmp_path / "features.npz").target_labels, LABELS.target_labels)


def test_equal_features_give_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        FEATURES.save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_models_see_features_in_float32():
    inputs = FEATURES.inputs
    assert inputs.train.dtype == inputs.targets.dtype == np.float32
    np.testing.assert_array_equal(inputs.train, FEATURES.train)
    np.testing.assert_array_equal(inputs.targets, FEATURES.targets)


def test_models_see_pixels_as_floats():
    images = small_images()
    inputs = Inputs.of_pixels(images)
    np.testing.assert_array_equal(inputs.train, as_float(images.train))
    np.testing.assert_array_equal(inputs.targets, as_float(images.targets))
    np.testing.assert_array_equal(inputs.labels.target_labels, LABELS.target_labels)


def arrays(**changes):
    kept = {name: getattr(FEATURES, name) for name in FEATURE_ARRAYS}
    return kept | {name: np.asarray(value) for name, value in vars(LABELS).items()} | changes


@pytest.mark.parametrize("changes", (
    {"train": FEATURES.train.astype(np.float32)},
    {"train": FEATURES.train[:5]},
    {"targets": FEATURES.targets[:, :, None]},
    {"train": np.where(np.eye(6, 5) > 0, np.nan, FEATURES.train).astype(np.float16)},
    {"targets": FEATURES.targets[:, :4]},
    {"train_numbers": np.arange(5)},
    {"target_numbers": np.array([0.5] * 4)},
    {"target_labels": np.full(4, 3)},
    {"train": np.full((6, 5), None)},
), ids=lambda changes: next(iter(changes)))  # fmt: skip
def test_a_file_with_other_content_is_one_sentence(tmp_path, changes):
    path = tmp_path / "features.npz"
    if next(iter(changes.values())).dtype == object:
        np.savez(path, **arrays(**changes))
    else:
        save_arrays(path, arrays(**changes))
    assert f"{path} is not a whole set of " in refusal(Features.load, path)


@pytest.mark.parametrize("missing", (*FEATURE_ARRAYS, "class_names"))
def test_a_missing_array_is_named(tmp_path, missing):
    kept = arrays()
    del kept[missing]
    save_arrays(tmp_path / "features.npz", kept)
    assert f"`{missing}` is missing" in refusal(Features.load, tmp_path / "features.npz")


def test_damaged_cut_and_missing_files_are_one_sentence(tmp_path):
    path = tmp_path / "features.npz"
    assert "does not exist" in refusal(Features.load, path)
    FEATURES.save(path)
    whole = path.read_bytes()
    for content in (b"", b"no archive", whole[: len(whole) // 2], whole[:150] + bytes(20) + whole[170:]):
        path.write_bytes(content)
        assert str(path) in refusal(Features.load, path)


def test_images_of_another_set_have_no_numbers(tmp_path):
    none = np.zeros(0, np.int64)
    replace(FEATURES, train_numbers=none, target_numbers=none).save(tmp_path / "features.npz")
    assert len(Features.load(tmp_path / "features.npz").train_numbers) == 0


def test_the_digest_is_of_all_pixels_and_labels():
    images = small_images()
    assert images_digest(small_images()) == images_digest(images)
    pixels = images.train.copy()
    pixels[5, 3, 3, 2] ^= 1
    others = [
        small_images(train=pixels),
        small_images(targets=images.targets[::-1]),
        small_images(train_labels=(np.arange(6) + 1) % 3),
        small_images(target_labels=(np.arange(4) + 1) % 3),
    ]
    assert len({images_digest(each) for each in (images, *others)}) == 5
