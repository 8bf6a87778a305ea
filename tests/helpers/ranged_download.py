"""One array to be fetched in ranges, and servers that fail in the middle of it."""

import io
import time

import numpy as np
from released_bucket import npy

from pipeline.remote.fetch import Need, fetch_missing
from pipeline.remote.http import HttpObject
from pipeline.remote.mirror import Mirror, Rows
from pipeline.remote.npy import read_header
from pipeline.remote.objects import retry_identify
from pipeline.remote.s3 import Place, S3Object, make_client

CONTENT = npy(np.random.default_rng(1).random((600, 1000)) < 0.5)


def need_of(remote, folder):
    if isinstance(remote, str):
        remote = HttpObject(remote, timeout=(2.0, 2.0))
    identity = retry_identify(remote)
    header = read_header(remote, identity)
    shape = header.n_rows, 125
    rows = Rows(header.n_rows, header.row_bytes, header.offset, shape, "uint8", lambda v: np.packbits(v, axis=1))
    wanted = (0, 100), (300, header.n_rows)
    return Need("masks", remote, Mirror(folder, remote.name, identity, rows, "masks"), wanted)


def fetched(need):
    fetch_missing(need, lambda n: None)
    stored = np.load(need.mirror.file)
    expected = np.packbits(np.load(io.BytesIO(CONTENT)), axis=1)
    np.testing.assert_array_equal(stored[:100], expected[:100])
    np.testing.assert_array_equal(stored[300:], expected[300:])
    assert need.missing == []
    return stored


def s3_object(url):
    place = Place("bucket", url)
    return S3Object(make_client(place, 2), place, "m.npy", "")


def failing(times, how):
    """The first `times` requests for rows fail."""
    left = {"count": times}

    def fault(handler, request, content):
        if request.stop - request.start <= 128 or left["count"] == 0:
            return False
        left["count"] -= 1
        how(handler, request, content[request.start : request.stop])
        return True

    return fault


def dropped(handler, request, body):
    handler.answer(request, 206, body[:90_000], range_of(request), length=len(body))
    handler.drop()


def short(handler, request, body):
    handler.answer(request, 206, body[:-10], range_of(request))


def stalled(handler, request, body):
    handler.answer(request, 206, body[:5000], range_of(request), length=len(body))
    time.sleep(4)


def status_500(handler, request, body):
    handler.answer(request, 500, b"")


def range_of(request):
    return {"Content-Range": f"bytes {request.start}-{request.stop - 1}/{len(CONTENT)}"}
