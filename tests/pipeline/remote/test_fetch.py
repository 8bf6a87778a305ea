"""Ranges: what arrived is kept and not fetched twice, whatever fails or is killed."""

import random
import shutil
import signal
import socket
import struct
import threading
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from long_runs import times
from ranged_download import CONTENT, dropped, failing, fetched, need_of, range_of, s3_object, short, stalled, status_500
from released_bucket import KEYS, journal, npy
from servers import ENVIRONMENT, http_server
from warm import Command

import pipeline.remote.fetch as fetching
from pipeline.errors import BadInputError
from pipeline.remote.fetch import Need, fetch_missing
from pipeline.remote.mirror import Mirror, split
from pipeline.remote.objects import Identity

SMALL_RANGES = "import pipeline.remote.fetch as f; f.RUN_BYTES = 40_000"


def test_killed_at_many_points_nothing_complete_is_fetched_twice(bucket, tmp_path, monkeypatch):
    """Small ranges and a slow server, so that kills fall between and into ranges; the server's log is the witness.

    A kill comes a moment after so many ranges were asked for, or, with none, somewhere in the start.
    """
    bucket.door.delay = 0.02
    rng = random.Random(1)
    kills = 0
    arguments = bucket.arguments("fit.mode=lasso")
    while kills < times(8, 20):
        complete, seen, asked = journal(tmp_path), len(bucket.log.requests), len(bucket.log.data(""))
        process = Command(tmp_path, "download", *arguments, before=SMALL_RANGES)
        after = rng.randrange(4)
        while process.poll() is None and len(bucket.log.data("")) < asked + after:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.15))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        for r in bucket.log.requests[seen:]:
            if r.stop - r.start <= 128:
                continue
            name = r.path.rpartition("/")[2]
            width = 500 if "masks" in name else 100
            first, last = (r.start - 128) // width, (r.stop - 128) // width
            assert not any(n == name and first < b and a < last for n, a, b in complete), (r, complete)
        if list(tmp_path.glob("data/download/*/manifest.json")):
            shutil.rmtree(tmp_path / "data")  # Finished before the kill: from the start.
    bucket.door.delay = 0.0
    before = journal(tmp_path)
    process = Command(tmp_path, "download", *arguments, before=SMALL_RANGES)
    assert process.wait() == 0, process.communicate()
    assert before <= journal(tmp_path)
    masks = next(p for p in tmp_path.glob("data/objects/*/array.npy") if np.load(p).dtype == np.uint8)
    np.testing.assert_array_equal(np.load(masks), np.packbits(np.load(bucket.folder / "cifar" / KEYS[0]), axis=1))


@pytest.mark.parametrize("remote_of", (lambda url: f"{url}/bucket/m.npy", s3_object), ids=("http", "s3"))
def test_connections_are_used_again(tmp_path, monkeypatch, remote_of):
    """Size, header and 8 ranges of 50 rows over two connections."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(fetching, "RUN_BYTES", 50_000)
    monkeypatch.setattr(fetching, "RUNS", 1)
    monkeypatch.setattr(fetching, "CONNECTIONS", 2)
    with http_server({"/bucket/m.npy": CONTENT}) as (url, log):
        need = need_of(remote_of(url), tmp_path)
        assert len({r.port for r in log.requests}) == 1
        fetched(need)
        assert len(log.requests) == 10
        assert len({r.port for r in log.requests}) == 2


@pytest.mark.parametrize("remote_of", (lambda url: f"{url}/bucket/m.npy", s3_object), ids=("http", "s3"))
def test_a_piece_is_gone_when_the_next_is_read(tmp_path, monkeypatch, remote_of):
    """Then it has the same memory; fresh memory would cost a tenth of the time. Beside the body that the server sends,
    one piece of 1 MB is there at a time, and its bits."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(fetching, "PIECE", 10**6)
    with http_server({"/bucket/m.npy": npy(np.zeros((8000, 1000), bool))}) as (url, _):
        need = need_of(remote_of(url), tmp_path)
        tracemalloc.start()
        fetch_missing(need, lambda n: None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 7.7e6 + 2.0e6  # Another piece would be above.


def test_runs_of_one_request_are_noted_one_by_one(tmp_path, monkeypatch):
    """Runs of 40 rows in blocks of 20; both wanted parts end within a run."""
    monkeypatch.setattr(fetching, "PIECE", 20_999)
    monkeypatch.setattr(fetching, "RUN_BYTES", 59_999)
    with http_server({"/m.npy": CONTENT}) as (url, log):
        need = need_of(f"{url}/m.npy", tmp_path)
        fetched(need)
        asked = sorted(((r.start - 128) // 1000, (r.stop - 128) // 1000) for r in log.data("m.npy"))
        assert asked == [(0, 100), (300, 460), (460, 600)]
        assert sorted(need.mirror.done) == split([(0, 100), (300, 460), (460, 600)], 40)
        assert need.mirror.drop_damaged(need.wanted) == []


def test_an_error_stops_the_other_ranges_after_the_run_under_way(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "RUN_BYTES", 50_000)
    asked, failed = threading.Event(), threading.Event()

    def transform(values):
        if not values[0].any():
            assert asked.wait(10)
            failed.set()
            raise BadInputError("no row is empty")
        return np.packbits(values, axis=1)

    def fault(handler, request, content):
        if request.start == 128 + 300_000:
            asked.set()
            assert failed.wait(10)
            time.sleep(0.5)
        return False

    content = CONTENT[:128] + bytes(1000) + CONTENT[1128:]
    with http_server({"/m.npy": content}, fault=fault) as (url, _):
        need = need_of(f"{url}/m.npy", tmp_path)
        rows = replace(need.mirror.rows, transform=transform)
        mirror = Mirror(tmp_path, need.remote.name, Identity(len(content), '"v1"'), rows, "masks")
        with pytest.raises(BadInputError, match="no row is empty"):
            fetch_missing(Need("masks", need.remote, mirror, ((0, 100), (300, 500))), lambda n: None)
        assert set(mirror.done) == {(300, 350)}


@pytest.mark.parametrize("how", (dropped, short, stalled, status_500))
@pytest.mark.parametrize("times", (1, 3))
def test_failures_are_survived_and_what_arrived_is_kept(tmp_path, how, times):
    with http_server({"/m.npy": CONTENT}, fault=failing(times, how)) as (url, log):
        fetched(need_of(f"{url}/m.npy", tmp_path))
        if how is dropped and times == 1:
            starts = [r.start for r in log.data("m.npy")]
            assert any(s in (128 + 90_000, 128 + 300 * 1000 + 90_000) for s in starts)  # Every byte is kept.


def test_a_connection_that_is_reset_again_and_again(tmp_path):
    """After 90 kB each time: what a piece had of them is lost, so pieces must be small once a connection broke."""

    def reset(handler, request, content):
        body = content[request.start : request.stop]
        if len(body) <= 90_000:
            return False
        handler.answer(request, 206, body[:90_000], range_of(request), length=len(body))
        time.sleep(0.05)
        handler.close_connection = True
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        return True

    with http_server({"/m.npy": CONTENT}, fault=reset) as (url, _):
        fetched(need_of(f"{url}/m.npy", tmp_path))


def test_slow_drip(tmp_path):
    def drip(handler, request, content):
        if request.stop - request.start <= 128:
            return False
        body = content[request.start : request.stop]
        handler.answer(request, 206, b"", range_of(request), length=len(body))
        for k in range(0, len(body), 20_000):
            time.sleep(0.05)
            handler.wfile.write(body[k : k + 20_000])
        return True

    with http_server({"/m.npy": CONTENT}, fault=drip) as (url, _):
        fetched(need_of(f"{url}/m.npy", tmp_path))
