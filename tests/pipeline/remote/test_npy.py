"""Headers of .npy files on a real server: numpy's own reader is the reference, and little is fetched."""

import io

import numpy as np
import pytest
from servers import http_server

from pipeline.remote.http import HttpObject
from pipeline.remote.npy import read_header
from pipeline.remote.objects import RemoteError, retry_identify


def saved(array, version=None):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=version)
    return stream.getvalue()


def header_of(content, **options):
    with http_server({"/a.npy": content}, **options) as (url, log):
        remote = HttpObject(f"{url}/a.npy", timeout=(2.0, 2.0))
        return read_header(remote, retry_identify(remote)), log


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("ranges", (True, False))
@pytest.mark.parametrize(
    ("shape", "dtype"), [((7, 3), np.bool_), ((40, 9), np.float16), ((3, 2), ">f8"), ((0, 5), np.uint8)]
)
def test_the_header_is_what_numpy_reads(shape, dtype, version, ranges):
    array = np.zeros(shape, dtype)
    content = saved(array, version)
    header, _ = header_of(content, ranges=ranges)
    assert (header.n_rows, header.n_columns, header.dtype) == (*shape, array.dtype)
    assert header.row_bytes == array.itemsize * shape[1]
    assert len(content) - header.offset == array.nbytes
    rows = np.frombuffer(content[header.offset :], header.dtype).reshape(shape)
    np.testing.assert_array_equal(rows, np.load(io.BytesIO(content)))


def test_of_a_large_file_only_the_beginning_is_fetched():
    content = saved(np.zeros((2000, 1000), np.uint8))
    header, log = header_of(content)
    assert (header.offset, header.n_rows) == (128, 2000)
    assert sum(request.sent for request in log.requests) <= 256


def test_a_header_longer_than_usual_is_read_whole():
    content = saved(np.zeros((4, 2), np.float32))
    length = int.from_bytes(content[8:10], "little") + 3 * 64
    padded = content[:8] + length.to_bytes(2, "little") + content[10:127] + b" " * 3 * 64 + content[127:]
    assert np.load(io.BytesIO(padded)).shape == (4, 2)
    assert header_of(padded)[0].offset == 128 + 3 * 64


@pytest.mark.parametrize(
    ("harm", "part"),
    [
        (lambda c: b"PK" + c[2:], "is not an .npy file"),
        (lambda c: c[:6], "has a damaged .npy header"),
        (lambda c: c[:8] + b"\xff\xff" + c[10:], "has a damaged .npy header"),
        (lambda c: c.replace(b"'descr'", b"'DESCR'"), "has a damaged .npy header"),
        (lambda c: c[:-1], "is truncated or damaged: 135 bytes where its header promises 136"),
        (lambda c: c + b"x", "is truncated or damaged: 137 bytes where its header promises 136"),
    ],
)
def test_what_is_no_whole_array_is_refused_by_name(harm, part):
    with pytest.raises(RemoteError) as caught:
        header_of(harm(saved(np.zeros((4, 2), np.uint8))))
    assert part in str(caught.value)
    assert "/a.npy" in str(caught.value)
