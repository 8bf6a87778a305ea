"""Image sets: what is read is what was written, and what is damaged or hostile is refused in one sentence."""

import zipfile

import numpy as np
import pytest
from python2_batches import Marker, refusal, same

from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels, as_float, load_digits, readable


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (7, 5, 6, 3), dtype=np.uint8)
    labels = np.array([0, 1, 2, 0, 1, 2, 0])
    return ImageSet(images[:4], labels[:4], images[4:], labels[4:], ("ant", "bee", "cicada β"))


def test_saved_set_comes_back(small, tmp_path):
    small.save(tmp_path / "images.npz")
    back = ImageSet.load(tmp_path / "images.npz")
    assert same(small, back)
    assert isinstance(back.class_names, tuple)
    assert [p.name for p in tmp_path.iterdir()] == ["images.npz"]


def test_equal_sets_are_equal_bytes(small, tmp_path, monkeypatch):
    small.save(tmp_path / "a.npz")
    monkeypatch.setattr("time.localtime", lambda *_: (2031, 5, 6, 7, 8, 9, 1, 126, 0))
    by_column = np.asfortranarray(small.train)
    again = ImageSet(by_column, small.train_labels, small.targets, small.target_labels, small.class_names)
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert zipfile.ZipFile(tmp_path / "a.npz").infolist()[0].compress_type == zipfile.ZIP_DEFLATED


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("train", None, "`train` is missing"),
        ("class_names", None, "`class_names` is missing"),
        ("train", np.zeros((4, 5, 6, 3)), "`train` must be an array of uint8"),
        ("train", np.zeros((4, 5, 6, 2), np.uint8), r"`train` must be images"),
        ("train", np.zeros((4, 30), np.uint8), r"has shape \(4, 30\)"),
        ("train", np.zeros((4, 5, 6), np.uint8), r"images \(5, 6\) and `targets` \(5, 6, 3\)"),
        ("targets", np.zeros((0, 5, 6, 3), np.uint8), "`targets` must be images"),
        ("train_labels", np.array([0, 1, 2]), "`train_labels` must be 4 labels"),
        ("train_labels", np.array([0, 1, 2, 0], np.int32), "`train_labels` must be 4 labels of int64"),
        ("target_labels", np.array([0, 1, 3]), "`target_labels` must lie between 0 and 2"),
        ("target_labels", np.array([-1, 1, 2]), "`target_labels` must lie between 0 and 2"),
        ("class_names", np.arange(3), "`class_names` must be a row of strings"),
    ],
)
def test_stored_arrays_are_checked(small, tmp_path, name, value, said):
    small.save(tmp_path / "good.npz")
    arrays = dict(np.load(tmp_path / "good.npz"))
    np.savez(tmp_path / "same.npz", **arrays)
    ImageSet.load(tmp_path / "same.npz")
    arrays[name] = value
    np.savez(tmp_path / "bad.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(BadInputError, match=said):
        ImageSet.load(tmp_path / "bad.npz")


def test_pictures_without_classes(small, tmp_path):
    """Their labels are all 0 and nobody's; kept and read back, they still have no classes."""
    np.savez(tmp_path / "pictures.npz", train=small.train, targets=small.targets)
    pictures = ImageSet.load_pictures(tmp_path / "pictures.npz")
    assert pictures.known_labels is None and small.known_labels is not None
    pictures.save(tmp_path / "saved.npz")
    again = ImageSet.load(tmp_path / "saved.npz")
    assert again.known_labels is None and again.class_names == () and not again.train_labels.any()
    np.testing.assert_array_equal(again.targets, small.targets)
    np.savez(tmp_path / "half.npz", train=small.train)
    with pytest.raises(BadInputError, match=r"half\.npz is not a whole image set \(`targets` is missing\)"):
        ImageSet.load_pictures(tmp_path / "half.npz")


def test_damaged_files_are_refused(small, tmp_path):
    path = tmp_path / "images.npz"
    assert f"{path} does not exist" in refusal(ImageSet.load, path)
    small.save(path)
    whole = path.read_bytes()
    for content in (b"", b"PK\x03\x04", b"text", whole[:-30], whole[: len(whole) // 2], whole[:200] + whole[260:]):
        path.write_bytes(content)
        assert str(path) in refusal(ImageSet.load, path)
    np.save(tmp_path / "one.npy", small.train)
    assert "no .npz archive" in refusal(ImageSet.load, tmp_path / "one.npy")
    assert str(tmp_path) in refusal(ImageSet.load, tmp_path)


def test_pickles_inside_an_npz_are_not_run(small, tmp_path):
    small.save(tmp_path / "good.npz")
    arrays = dict(np.load(tmp_path / "good.npz"))
    arrays["train"] = np.array([Marker(tmp_path / "ran")], dtype=object)
    np.savez(tmp_path / "bad.npz", **arrays)
    assert "holds Python objects" in refusal(ImageSet.load, tmp_path / "bad.npz")
    assert not (tmp_path / "ran").exists()


def test_digits_are_balanced_disjoint_and_in_file_order():
    from sklearn.datasets import load_digits as original

    digits = original()
    found = load_digits(1000, 740)
    assert found.train.shape == (1000, 8, 8)
    assert found.train.dtype == np.uint8
    assert np.bincount(found.train_labels).tolist() == [100] * 10
    assert np.bincount(found.target_labels).tolist() == [74] * 10
    assert found.class_names == tuple("0123456789")
    where = {image.tobytes(): k for k, image in enumerate(np.rint(digits.images * 255 / 16).astype(np.uint8))}
    assert len(where) == len(digits.images)
    train = [where[image.tobytes()] for image in found.train]
    targets = [where[image.tobytes()] for image in found.targets]
    assert train == sorted(set(train))
    assert targets == sorted(set(targets))
    assert not set(train) & set(targets)
    assert digits.target[train].tolist() == found.train_labels.tolist()
    assert digits.target[targets].tolist() == found.target_labels.tolist()
    for digit in range(10):
        of_class = np.flatnonzero(digits.target == digit)
        assert [k for k in train if digits.target[k] == digit] == of_class[:100].tolist()
        assert [k for k in targets if digits.target[k] == digit] == of_class[100:174].tolist()


def test_digits_use_the_whole_scale_and_do_not_change():
    found = load_digits(100, 100)
    assert (found.train.min(), found.train.max()) == (0, 255)
    assert 128 in found.train  # 8 of 16, between 127 and 128
    assert same(found, load_digits(100, 100))
    assert np.array_equal(load_digits(100, 50).targets, found.targets[np.sort(_first_of_each(found.target_labels, 5))])


def _first_of_each(labels, count):
    return np.concatenate([np.flatnonzero(labels == k)[:count] for k in range(10)])


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((25, 10), "--train 25 cannot be split evenly"),
        ((10, 0), "--targets 0 cannot be split evenly"),
        ((-10, 10), "--train -10 cannot"),
        ((1000, 750), "at most 1740"),
    ],
)
def test_impossible_digit_counts_are_refused(counts, said):
    assert said in refusal(load_digits, *counts)


def test_as_float_is_centred_and_leaves_its_input_alone():
    images = np.array([[[0, 255], [51, 204]]], dtype=np.uint8)
    values = as_float(images)
    assert values.dtype == np.float32
    assert values == pytest.approx(np.array([[[-0.5, 0.5], [-0.3, 0.3]]]))
    assert images.tolist() == [[[0, 255], [51, 204]]]
    with pytest.raises(ValueError, match="`images` must be uint8"):
        as_float(values)


@pytest.mark.parametrize("error", (TypeError("5"), OverflowError(), RecursionError(), SyntaxError("x"), KeyError("a")))
def test_any_failure_of_a_reader_is_one_sentence(tmp_path, error):
    """Headers inside an archive are expressions of Python's, and fail in any way."""
    with pytest.raises(BadInputError, match="is not a whole image set"), readable(tmp_path / "x.npz", "image set"):
        raise error
    with pytest.raises(BadInputError, match="as it is"), readable(tmp_path, "image set"):
        raise BadInputError("as it is")


@pytest.mark.parametrize(
    ("change", "reason"),
    (
        (
            {"train_labels": np.array([0.0, 1.0, 0.5])},
            "`train_labels` must be whole numbers, and not float64",
        ),
        (
            {"target_labels": np.array([True, False])},
            "`target_labels` must be whole numbers, and not bool",
        ),
        (
            {"target_labels": np.zeros(0, np.int64)},
            "`target_labels` must be whole numbers, and not int64 of",
        ),
        ({"train_labels": np.array([0, 1, 2])}, "`train_labels` must lie between 0 and 1"),
        ({"class_names": np.array(["cat", "cat"])}, '`class_names` has "cat" twice; classes need different names'),
        ({"class_names": np.array(["cat", ""])}, "`class_names` has a name without letters"),
        ({"class_names": np.array([1, 2])}, "`class_names` must be a row of strings"),
    ),
)
def test_labels_are_refused_as_they_are_in_a_folder_of_ones_own(tmp_path, change, reason):
    good = {
        "train_labels": np.array([0, 1, 1]),
        "target_labels": np.array([1, 0], np.uint8),
        "class_names": np.array(["cat", "dog"]),
    }
    np.savez(tmp_path / "labels.npz", **good)
    assert Labels.load(tmp_path / "labels.npz").target_labels.tolist() == [1, 0]
    np.savez(tmp_path / "labels.npz", **{**good, **change})
    with pytest.raises(BadInputError) as caught:
        Labels.load(tmp_path / "labels.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'labels.npz'} is not a whole set of labels ({reason}")
