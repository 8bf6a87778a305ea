"""Plain HTTP: ranges, servers without them, and those that are not believed."""

import tracemalloc
import zlib

import pytest
from ranged_download import CONTENT, failing, fetched, need_of, range_of
from servers import http_server

import pipeline.remote.fetch as fetching
import pipeline.remote.objects as objects
from pipeline.remote.fetch import fetch_missing
from pipeline.remote.http import HttpObject
from pipeline.remote.objects import RemoteError


def test_http_ranges(tmp_path):
    with http_server({"/m.npy": CONTENT}) as (url, log):
        stored = fetched(need_of(f"{url}/m.npy", tmp_path))
        assert (stored[100:300] == 0).all()
        assert sum(r.stop - r.start for r in log.data("m.npy")) == 400 * 1000


@pytest.mark.parametrize("ranges", (False, "later"))
def test_a_server_without_ranges_is_read_in_one_stream(tmp_path, ranges):
    """200 instead of 206: from the start, or only once rows are asked for."""

    def fault(handler, request, content):
        if ranges == "later" and request.stop - request.start > 128:
            handler.answer(request, 200, content)
            return True
        return False

    with http_server({"/m.npy": CONTENT}, ranges=bool(ranges), fault=fault) as (url, _):
        fetched(need_of(f"{url}/m.npy", tmp_path))


@pytest.mark.parametrize(
    ("status", "part"), [(403, "is refused (403)"), (404, "does not exist (404)"), (418, "answered 418")]
)
def test_refusals_are_final(tmp_path, status, part):
    with http_server({}, fault=lambda h, r, c: h.answer(r, status, b"") or True) as (url, log):
        with pytest.raises(RemoteError) as caught:
            need_of(f"{url}/m.npy", tmp_path)
        assert part in str(caught.value)
        assert len(log.requests) == 1


@pytest.mark.parametrize("piece", (objects.PIECE, 50_000), ids=("one piece", "whole pieces"))
def test_a_server_that_sends_other_bytes_or_too_many_is_not_believed(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(fetching, "PIECE", piece)

    def shifted(handler, request, body):
        handler.answer(
            request, 206, body, {"Content-Range": f"bytes {request.start + 1}-{request.stop}/{len(CONTENT)}"}
        )

    def longer(handler, request, body):
        handler.answer(request, 206, body + b"more", range_of(request))

    for how, part in ((shifted, "other bytes than were asked for"), (longer, "more bytes than were asked for")):
        with http_server({"/m.npy": CONTENT}, fault=failing(10**6, how)) as (url, _):
            need = need_of(f"{url}/m.npy", tmp_path / how.__name__)
            with pytest.raises(RemoteError, match=part):
                fetch_missing(need, lambda n: None)


def test_the_body_of_an_answer_that_leads_elsewhere_is_not_unpacked():
    """Half a megabyte that is half a gigabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([*(packer.compress(bytes(10**6)) for _ in range(500)), packer.flush()])

    def fault(handler, request, content):
        if handler.path != "/m.npy":
            return False
        handler.answer(request, 302, bomb, {"Location": "/there.npy", "Content-Encoding": "gzip"})
        return True

    with http_server({"/there.npy": CONTENT}, fault=fault) as (url, log):
        tracemalloc.start()
        try:
            assert HttpObject(f"{url}/m.npy").identify().size == len(CONTENT)
            assert tracemalloc.get_traced_memory()[1] < 10**7
        finally:
            tracemalloc.stop()
        assert [request.path for request in log.requests] == ["/m.npy", "/there.npy"]
