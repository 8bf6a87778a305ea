"""Archives of arrays: as numpy reads them, and none that would fill the memory."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from pipeline.arrays.npz import ArrayArchive, open_npz, read_npz

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
    "c": np.array(["cat", "ä"]),
    "d": np.zeros((0, 4)),
    "e": np.array(7),
}


@pytest.mark.parametrize("save", (np.savez, np.savez_compressed))
def test_as_numpy_reads_it(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    with open_npz(tmp_path / "a.npz") as ours, np.load(tmp_path / "a.npz") as numpys:
        assert ours.files == numpys.files == list(ARRAYS)
        assert "a" in ours
        assert "x" not in ours
        for name in ARRAYS:
            assert (ours[name].dtype, ours[name].shape) == (numpys[name].dtype, numpys[name].shape)
            np.testing.assert_array_equal(ours[name], numpys[name])
            assert ours[name].flags.f_contiguous == numpys[name].flags.f_contiguous
    assert read_npz(tmp_path / "a.npz").keys() == ARRAYS.keys()


def test_every_flip_and_every_cut_is_a_value_error_or_changes_nothing(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(5))
    good = (tmp_path / "a.npz").read_bytes()
    wrong = [good[:k] for k in range(0, len(good), 3)]
    wrong += [good[:k] + bytes([good[k] ^ 64]) + good[k + 1 :] for k in range(len(good))]
    for content in wrong:
        try:
            found = ArrayArchive(io.BytesIO(content)).read()
        except ValueError:
            continue
        assert not found or next(iter(found.values())).tolist() == [0, 1, 2, 3, 4]


def test_python_objects_and_other_packing_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}], object))
    with open_npz(tmp_path / "a.npz") as archive, pytest.raises(ValueError, match="Python objects"):
        archive["a"]
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", b"x" * 100)
    with open_npz(tmp_path / "b.npz") as archive, pytest.raises(ValueError, match="numpy does not"):
        archive["a"]
    with open_npz(tmp_path / "b.npz") as archive, pytest.raises(ValueError, match="missing"):
        archive["b"]


BOMB = """
import resource, sys
import numpy as np
from pathlib import Path
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
size = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (size + 2**28, size + 2**28))
try:
    ImageSet.load(Path(sys.argv[1]))
except BadInputError as error:
    sys.exit(0 if "without compression" in str(error) else str(error))
sys.exit("it was read")
"""


def test_a_bomb_is_known_before_it_goes_off(tmp_path):
    """Half a megabyte that is half a gigabyte of zeros: refused within 256 MB of memory."""
    header = b"\x93NUMPY\x01\x00v\x00" + (b"{'descr': '|u1', 'fortran_order': False, 'shape': (2400000000,), }").ljust(
        117
    )
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("train_labels", "targets", "target_labels", "class_names"):
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as stream:
                stream.write(header + b"\n")
        entry = zipfile.ZipInfo("train.npy")
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w", force_zip64=True) as stream:
            stream.write(header + b"\n")
            for _ in range(48):
                stream.write(bytes(10_000_000))
    assert (tmp_path / "bomb.npz").stat().st_size < 3 * 10**6
    done = subprocess.run(
        [sys.executable, "-c", BOMB, tmp_path / "bomb.npz"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_many_arrays_that_are_bearable_are_a_bomb_together(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.arrays.npz.FREE_BYTES", 1000)
    np.savez_compressed(tmp_path / "bomb.npz", **{f"a{k}": np.zeros(40_000, np.uint8) for k in range(30)})
    np.savez(tmp_path / "plain.npz", **{f"a{k}": np.zeros(40_000, np.uint8) for k in range(30)})
    size = (tmp_path / "bomb.npz").stat().st_size
    assert len(read_npz(tmp_path / "plain.npz")) == 30
    with open_npz(tmp_path / "bomb.npz") as archive:
        monkeypatch.setattr("pipeline.arrays.npz.LARGEST_RATIO", 10 * 40_128 / size)
        monkeypatch.setattr("pipeline.arrays.npz.FREE_BYTES", 40_128)
        for _ in range(3):  # What is read again is no more.
            assert len([archive[f"a{k}"] for k in range(10)]) == 10
        with pytest.raises(ValueError, match=r"what is read of it would be 441\.4 kB"):
            archive["a10"]
