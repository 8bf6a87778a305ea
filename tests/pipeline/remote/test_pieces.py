"""Connections that break, fall silent or drip, over real HTTP; and what is no fault of theirs."""

import time

import pytest
from servers import http_server

import pipeline.remote.http as http
import pipeline.remote.objects as objects
from pipeline.remote.failures import CutShortError, RemoteError, TooSlowError, TransientError
from pipeline.remote.http import HttpObject
from pipeline.remote.objects import fetch
from pipeline.remote.pieces import Pace, read_pieces

CONTENT = bytes(range(250)) * 400
PACE = Pace(slowest=50_000, window=0.2)


def partial(handler, request, content, upto):
    """The head of an answer to what was asked for, with the first `upto` bytes of it."""
    start, stop = (request.start, request.stop) if request.stop else (0, len(content))
    told = {"Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"} if request.stop else {}
    handler.answer(request, 206 if told else 200, content[start : start + upto], told, length=stop - start)
    return content[start + upto : stop]


def dripping(times):
    """The first requests for more than a byte get 1,000 bytes every 50 ms, and no end."""
    dripped = []

    def fault(handler, request, content):
        if request.stop == 1 or len(dripped) >= times:
            return False
        dripped.append(request)
        rest = partial(handler, request, content, 1000)
        for k in range(0, len(rest), 1000):
            time.sleep(0.05)
            try:
                handler.wfile.write(rest[k : k + 1000])
            except OSError:
                break
        handler.close_connection = True
        return True

    return fault


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch):
    monkeypatch.setattr(objects, "FIRST_PAUSE", 0.01)


def test_a_connection_that_drips_is_replaced_and_what_came_is_kept():
    with http_server({"/a": CONTENT}, fault=dripping(1)) as (url, log):
        remote = HttpObject(f"{url}/a", pace=PACE)
        assert b"".join(fetch(remote, 0, len(CONTENT), 1000, lambda n: None)) == CONTENT
    starts = [request.start for request in log.requests]
    assert starts[0] == 0
    assert 3000 <= starts[1] < 30_000
    assert len(starts) == 2


def test_a_server_that_always_drips_is_borne_while_bytes_arrive():
    """Rows have no other place; each connection brings some."""
    with http_server({"/a": CONTENT}, fault=dripping(10**6)) as (url, log):
        remote = HttpObject(f"{url}/a", pace=PACE)
        assert b"".join(fetch(remote, 0, 40_000, 1000, lambda n: None)) == CONTENT[:40_000]
    assert len(log.requests) > objects.ATTEMPTS


def test_the_one_stream_of_a_server_without_ranges_is_not_cut_for_its_pace(monkeypatch):
    monkeypatch.setattr(http, "PIECE", 1000)
    with http_server({"/a": CONTENT[:20_000]}, fault=dripping(1), ranges=False) as (url, log):
        assert b"".join(HttpObject(f"{url}/a", pace=PACE).stream_whole(20_000)) == CONTENT[:20_000]
    assert len(log.requests) == 1


def test_what_happens_to_a_connection_after_the_last_byte_is_no_failure(monkeypatch):
    monkeypatch.setattr(objects, "ATTEMPTS", 1)

    class Late:
        name = "late"

        def stream(self, start, stop, length):
            yield CONTENT[start:stop]
            raise TooSlowError("it is too slow")

    assert list(fetch(Late(), 0, 10, 10, lambda n: None)) == [CONTENT[:10]]


def test_a_slow_reader_is_not_a_slow_server():
    content = iter([bytes(1000)] * 5)
    pieces = read_pieces(lambda n: next(content, b""), 1000, silence=1, pace=Pace(10**6, 0.02))
    for piece in pieces:
        assert len(piece) == 1000
        time.sleep(0.03)


def test_the_last_piece_may_be_late():
    def read(count):
        time.sleep(0.05)
        return bytes(count)

    assert list(read_pieces(read, 10, silence=1, pace=Pace(10**9, 0.01), left=10)) == [bytes(10)]
    with pytest.raises(TooSlowError, match=r"it is too slow \(0\.\d kB/s\)"):
        list(read_pieces(read, 10, silence=1, pace=Pace(10**9, 0.01), left=11))


def test_silence_and_a_break_are_told_apart():
    def silent(handler, request, content):
        partial(handler, request, content, 5000)
        time.sleep(1.5)
        handler.close_connection = True
        return True

    def broken(handler, request, content):
        partial(handler, request, content, 5000)
        handler.drop()
        return True

    faults = ((silent, TransientError, "it sent nothing for 0.5 seconds"), (broken, CutShortError, "connection broke"))
    for fault, kind, text in faults:
        with http_server({"/a": CONTENT}, fault=fault) as (url, _):
            stream = HttpObject(f"{url}/a", timeout=(2.0, 0.5)).stream(0, 9000, 1000)
            got = []
            with pytest.raises(kind, match=text) as caught:
                got.extend(stream)
            assert type(caught.value) is kind
            assert b"".join(got) == CONTENT[:5000]


def test_a_server_that_is_silent_from_the_start_says_so(monkeypatch):
    monkeypatch.setattr(objects, "ATTEMPTS", 2)

    def fault(handler, request, content):
        time.sleep(0.8)
        return False

    with http_server({"/a": CONTENT}, fault=fault) as (url, _), pytest.raises(RemoteError) as caught:
        b"".join(fetch(HttpObject(f"{url}/a", timeout=(2.0, 0.2)), 0, 10, 10, lambda n: None))
    assert "after 2 attempts (it sent nothing for 0.2 seconds)" in str(caught.value)


def test_a_body_that_ends_early_is_counted(monkeypatch):
    """Complete by its own Content-Length, but not all that was asked for."""
    monkeypatch.setattr(objects, "ATTEMPTS", 2)

    def fault(handler, request, content):
        told = {"Content-Range": f"bytes {request.start}-{request.stop - 1}/{len(content)}"}
        handler.answer(request, 206, content[request.start : min(request.stop, 1000)], told)
        return True

    with http_server({"/a": CONTENT}, fault=fault) as (url, _), pytest.raises(RemoteError) as caught:
        b"".join(fetch(HttpObject(f"{url}/a"), 500, 9500, 100, lambda n: None))
    assert "(it ended after 500 of 9,000 bytes)" in str(caught.value)
