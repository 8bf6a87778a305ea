"""An object that changes under way is noticed, also where the server passes over If-Match; real servers."""

import io

import numpy as np
import pytest
from servers import ENVIRONMENT, http_server

import pipeline.remote.objects as objects
from pipeline.remote.answers import Version
from pipeline.remote.failures import ChangedError, RemoteError
from pipeline.remote.fetch import Need, fetch_missing
from pipeline.remote.http import HttpObject
from pipeline.remote.mirror import Mirror, Rows
from pipeline.remote.npy import first_bytes, read_header
from pipeline.remote.objects import fetch, retry_identify
from pipeline.remote.s3 import Place, S3Object, make_client

CONTENT = bytes(range(256)) * 4


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch):
    monkeypatch.setattr(objects, "FIRST_PAUSE", 0.01)


def read(remote, start, stop):
    return b"".join(fetch(remote, start, stop, 100, lambda n: None))


def tagged(headers):
    """A server that tells these headers (a dictionary that a test may change) and looks at no condition."""

    def fault(handler, request, content):
        ranged = handler.headers.get("Range") is not None and headers.get("ranges", True)
        start, stop = (request.start, request.stop) if ranged else (0, len(content))
        told = {name: value for name, value in headers.items() if name != "ranges"}
        if ranged:
            told["Content-Range"] = f"bytes {start}-{stop - 1}/{told.pop('size', len(content))}"
        handler.answer(request, 206 if ranged else 200, content[start:stop], told)
        return True

    return fault


@pytest.mark.parametrize(
    "change", ({"ETag": '"v2"'}, {"ETag": "", "Last-Modified": "Tuesday"}, {"ETag": 'W/"v2"'}, {"size": "2000"})
)
def test_another_version_in_the_next_answer_is_final(change):
    headers = {"ETag": '"v1"', "Last-Modified": "Monday"}
    with http_server({"/a": CONTENT}, fault=tagged(headers)) as (url, log):
        remote = HttpObject(f"{url}/a")
        retry_identify(remote)
        assert read(remote, 0, 300) == CONTENT[:300]
        before = len(log.requests)
        headers.update(change)
        with pytest.raises(ChangedError, match="changed while it was fetched; run the command again"):
            read(remote, 300, 600)
        assert len(log.requests) == before + 1
        retry_identify(remote)  # asks anew
        assert read(remote, 300, 600) == CONTENT[300:600]


@pytest.mark.parametrize("silent", ({"ETag": ""}, {"Last-Modified": ""}, {"Last-Modified": "Tuesday"}, {"size": "*"}))
def test_an_answer_that_says_less_is_believed(silent):
    headers = {"ETag": '"v1"', "Last-Modified": "Monday"}
    with http_server({"/a": CONTENT}, fault=tagged(headers)) as (url, _):
        remote = HttpObject(f"{url}/a")
        retry_identify(remote)
        headers.update(silent)
        assert read(remote, 300, 600) == CONTENT[300:600]


def test_the_server_is_asked_for_the_same_version():
    seen = []

    def fault(handler, request, content):
        seen.append(handler.headers.get("If-Match"))
        if seen[-1] and len(seen) > 2:
            handler.answer(request, 412, b"")
            return True
        return False

    with http_server({"/a": CONTENT}, fault=fault) as (url, _):
        remote = HttpObject(f"{url}/a")
        retry_identify(remote)
        read(remote, 0, 10)
        with pytest.raises(ChangedError):
            read(remote, 10, 20)
    assert seen == [None, '"v1"', '"v1"']


def need_of(remote, folder):
    header = read_header(remote, retry_identify(remote))
    rows = Rows(header.n_rows, header.row_bytes, header.offset, (header.n_rows, 8), "uint8", lambda values: values)
    mirror = Mirror(folder, remote.name, remote.identify(), rows, "rows")
    return Need("rows", remote, mirror, ((0, header.n_rows),))


def test_another_version_in_one_stream_is_noticed_too(tmp_path):
    """A server without ranges: rows of two versions must not be mixed."""
    stream = io.BytesIO()
    np.save(stream, np.arange(800, dtype=np.uint8).reshape(100, 8))
    headers = {"ETag": '"v1"', "ranges": False}
    with http_server({"/a.npy": stream.getvalue()}, fault=tagged(headers)) as (url, _):
        need = need_of(HttpObject(f"{url}/a.npy"), tmp_path)
        headers["ETag"] = '"v2"'
        with pytest.raises(ChangedError):
            fetch_missing(need, lambda n: None)
        assert need.mirror.done == {}
        headers["ETag"] = '"v1"'
        fetch_missing(need, lambda n: None)
        assert np.array_equal(np.load(need.mirror.file), np.load(io.BytesIO(stream.getvalue())))


def test_a_header_from_a_server_without_ranges_is_asked_for_again():
    """The first bytes in one stream break, or just end: an attempt more, not a traceback."""
    stream = io.BytesIO()
    np.save(stream, np.zeros((100, 8), np.uint8))
    wholes = []

    def fault(handler, request, content):
        if handler.headers.get("Range") is None:
            wholes.append(request)
            if len(wholes) == 1:
                handler.answer(request, 200, content[:50], length=len(content))
                handler.drop()
                return True
            if len(wholes) == 2:  # no length: that is all there is, as far as HTTP goes
                handler.send_response(200)
                handler.end_headers()
                handler.wfile.write(content[:50])
                handler.close_connection = True
                return True
        handler.answer(request, 200, content)
        return True

    with http_server({"/a.npy": stream.getvalue()}, fault=fault) as (url, _):
        remote = HttpObject(f"{url}/a.npy")
        assert first_bytes(remote, 120) == stream.getvalue()[:120]
    assert len(wholes) == 3


def test_no_request_asks_for_a_packed_answer():
    """Size, tag and ranges would be those of the packed bytes."""
    seen = []

    def fault(handler, request, content):
        seen.append(handler.headers.get("Accept-Encoding"))
        return False

    with http_server({"/a": CONTENT}, fault=fault) as (url, _):
        remote = HttpObject(f"{url}/a")
        retry_identify(remote)
        read(remote, 0, 300)
        assert b"".join(remote.stream_whole(500)) == CONTENT[:500]
    assert seen == ["identity"] * 3


@pytest.mark.parametrize("told", ("", "bytes", "bytes 5-9", "bytes x-9/10", "items 0-0/10", "bytes 1-1/10"))
def test_a_range_that_is_not_told_is_not_believed(told):
    def fault(handler, request, content):
        handler.answer(request, 206, b"x", {"Content-Range": told})
        return True

    with http_server({"/a": CONTENT}, fault=fault) as (url, _), pytest.raises(RemoteError, match="other bytes than"):
        retry_identify(HttpObject(f"{url}/a"))


def test_s3_that_passes_over_the_condition_is_noticed(monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    headers = {"ETag": '"v1"'}
    with http_server({"/bucket/a": CONTENT}, fault=tagged(headers)) as (url, _):
        place = Place("bucket", url)
        remote = S3Object(make_client(place, 2), place, "a", "")
        retry_identify(remote)
        assert read(remote, 0, 300) == CONTENT[:300]
        headers["ETag"] = '"v2"'
        with pytest.raises(ChangedError):
            read(remote, 300, 600)


def test_versions_differ_only_where_both_speak():
    whole = Version("9", '"a"', "Monday")
    assert not whole.differs(Version("", "", ""))
    assert whole.differs(Version("8", '"a"', "Monday"))
    assert whole.differs(Version("9", '"b"', "Monday"))
    assert not whole.differs(Version("9", '"a"', "Tuesday"))
    assert whole.differs(Version("9", "", "Tuesday"))
