"""Patience: what arrived is kept, and endless failure ends."""

import pytest
from ranged_download import CONTENT, failing, need_of, status_500
from servers import http_server

import pipeline.remote.objects as objects
from pipeline.remote.fetch import fetch_missing
from pipeline.remote.http import HttpObject
from pipeline.remote.objects import RemoteError, fetch, retry_identify


def test_endless_failure_ends(tmp_path):
    with http_server({"/m.npy": CONTENT}, fault=failing(10**6, status_500)) as (url, _):
        need = need_of(f"{url}/m.npy", tmp_path)
        with pytest.raises(RemoteError, match="after 7 attempts"):
            fetch_missing(need, lambda n: None)
    with pytest.raises(RemoteError, match="does not answer"):
        retry_identify(HttpObject("http://127.0.0.1:9/none"))


def test_fetch_keeps_what_arrived(tmp_path):
    class Flaky:
        name = "flaky"

        def __init__(self):
            self.asked = []

        def stream(self, start, stop, length):
            self.asked.append(start)
            yield bytes(range(start, min(start + 3, stop)))
            if start + 3 < stop:
                raise objects.TransientError("gone")

    for length, blocks in ((4, ["0123", "4567", "89"]), (3, ["012", "345", "678", "9"]), (20, ["0123456789"])):
        flaky, came = Flaky(), []
        fetched_blocks = list(fetch(flaky, 0, 10, length, came.append))
        assert fetched_blocks == [bytes(int(digit) for digit in block) for block in blocks]
        assert flaky.asked == [0, 3, 6, 9]
        assert came == [3, 3, 3, 1]
