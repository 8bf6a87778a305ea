"""Headers of .npy files: those that numpy writes are read as numpy reads them, and no other asks for anything."""

import io
import os

import numpy as np
import pytest

from pipeline.arrays.npy import MAGIC, map_npy, open_array, read_header
from pipeline.errors import BadInputError

KINDS = ("?", "u1", "<i2", ">i4", "<i8", "<f2", ">f4", "<f8", "<c16", "<U3", "S5", "<M8[ns]")
SHAPES = ((), (0,), (1,), (7,), (0, 3), (2, 3), (2, 3, 4))


def file_of(tmp_path, header, body=b"", version=1):
    text = header.encode("latin1")
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    path = tmp_path / "a.npy"
    path.write_bytes(MAGIC + bytes([version, 0]) + length + text + body)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", "CF")
def test_as_numpy_reads_it(tmp_path, kind, shape, order):
    np.save(tmp_path / "a.npy", np.zeros(shape, kind, order))
    ours, numpys = map_npy(tmp_path / "a.npy"), np.load(tmp_path / "a.npy")
    assert (ours.shape, ours.dtype, ours.flags.f_contiguous) == (numpys.shape, numpys.dtype, numpys.flags.f_contiguous)
    np.testing.assert_array_equal(ours, numpys)


@pytest.mark.parametrize("version", (1, 2, 3))
def test_versions_and_orders_of_entries_that_others_write(tmp_path, version):
    body = np.arange(6.0).tobytes()
    for text in (
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}\n",
        '{"descr": "<f8", "fortran_order": False, "shape": (2L, 3L), }   \n',
    ):
        assert map_npy(file_of(tmp_path, text, body, version)).tolist() == [[0, 1, 2], [3, 4, 5]]


GOOD = "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}"
BAD = {
    "object": GOOD.format("'|O'", "(1,)"),
    "records": GOOD.format("[('a', '<f4')]", "(1,)"),
    "no type": GOOD.format("'<q9'", "(1,)"),
    "empty type": GOOD.format("'<U0'", "(1,)"),
    "code": "__import__('os').system('true')",
    "indented": "  x\n y",
    "unclosed": "'''",
    "nested": "(" * 5000,
    "negative": GOOD.format("'<f8'", "(-1,)"),
    "too large": GOOD.format("'<f8'", f"({2**40}, {2**40})"),
    "empty but too large": GOOD.format("'<f8'", f"(0, {10**17}, {10**17})"),
    "digits": GOOD.format("'<f8'", f"({'9' * 5000},)"),
    "more than there is": GOOD.format("'<f8'", "(1000000,)"),
    "many dimensions": GOOD.format("'<f8'", f"({'1,' * 50})"),
    "twice": "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
    "no shape": "{'descr': '<f8', 'fortran_order': False}",
    "no order": "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
    "more": "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}",
    "nothing": "",
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_header_is_one_sentence(tmp_path, case):
    path = file_of(tmp_path, BAD[case], bytes(8))
    with pytest.raises(BadInputError) as caught:
        open_array(path)
    assert str(caught.value).startswith(f"{path} ")
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 400 + len(str(path))


def test_every_cut_is_noticed(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5))
    size = (tmp_path / "a.npy").stat().st_size
    for cut in range(size - 1, -1, -1):
        os.truncate(tmp_path / "a.npy", cut)
        with pytest.raises(ValueError):
            map_npy(tmp_path / "a.npy")


def test_a_long_header_is_not_read():
    with pytest.raises(ValueError, match="length of its header"):
        read_header(io.BytesIO(MAGIC + b"\x02\x00\xff\xff\xff\x7f" + bytes(100)))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInputError, match="does not exist"):
        open_array(tmp_path / "none.npy")
