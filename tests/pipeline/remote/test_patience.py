"""When a server is asked again, when it is given up, and that it is asked no sooner than it wishes."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from servers import http_server

import pipeline.remote.objects as objects
import pipeline.remote.patience as patience
from pipeline.remote.failures import CutShortError, RemoteError, TooSlowError, TransientError, UnreachableError
from pipeline.remote.http import HttpObject
from pipeline.remote.objects import fetch, retry_identify
from pipeline.remote.patience import Attempts, Patience, persist, seconds_asked, seconds_to_wait

CONTENT = bytes(range(256)) * 1000


def sentence(reason):
    return f"given up ({reason})."


@pytest.fixture
def slept(monkeypatch):
    """Seconds of each pause; nobody waits."""
    pauses = []
    monkeypatch.setattr(patience.time, "sleep", pauses.append)
    return pauses


def busy(times, status, retry_after):
    """A fault: the first requests are answered with `status` and the wish to be asked later; and when all were made."""
    seen = []

    def fault(handler, request, content):
        seen.append(time.monotonic())
        if len(seen) > times:
            return False
        handler.answer(request, status, b"", {"Retry-After": retry_after})
        return True

    return fault, seen


@pytest.mark.parametrize("status", (429, 503))
def test_retry_after_is_honoured(monkeypatch, status):
    monkeypatch.setattr(objects, "FIRST_PAUSE", 0.01)
    fault, seen = busy(1, status, "1")
    with http_server({"/a": CONTENT}, fault=fault) as (url, _):
        assert retry_identify(HttpObject(f"{url}/a")).size == len(CONTENT)
    assert len(seen) == 2
    assert seen[1] - seen[0] > 0.9


def test_retry_after_of_a_range(slept):
    fault, seen = busy(2, 503, "11")
    with http_server({"/a": CONTENT}, fault=fault) as (url, _):
        blocks = fetch(HttpObject(f"{url}/a"), 10, 2000, 500, lambda n: None)
        assert b"".join(blocks) == CONTENT[10:2000]
    assert slept == [11.0, 11.0]
    assert len(seen) == 3


def test_a_wish_to_wait_for_an_hour_is_not_granted():
    assert seconds_to_wait(0.5, 1, 3600.0) == patience.LONGEST_PAUSE
    assert seconds_to_wait(0.5, 50, 0.0) == patience.LONGEST_PAUSE
    assert 0.25 <= seconds_to_wait(0.5, 1, 0.0) <= 0.5
    assert seconds_to_wait(0.5, 1, 3.0) == 3.0


def test_retry_after_may_be_a_date():
    later = datetime.now(UTC) + timedelta(seconds=20)
    assert 15 < seconds_asked(format_datetime(later, usegmt=True)) <= 20
    assert seconds_asked(format_datetime(later - timedelta(days=1), usegmt=True)) == 0
    assert [seconds_asked(text) for text in ("12", " 3 ", "", "-1", "soon", "²", "1.5")] == [12, 3, 0, 0, 0, 0, 0]


def test_any_byte_gives_new_hope_unless_a_share_is_asked_for(slept):
    attempts = Attempts(Patience(attempts=3), sentence, total=1000)
    for done in range(1, 50):
        attempts.failed(TransientError("gone"), done)
    asks_for_more = Attempts(Patience(attempts=3, gain=0.01), sentence, total=1000)
    asks_for_more.failed(TransientError("gone"), 11)
    asks_for_more.failed(TransientError("gone"), 21)
    with pytest.raises(RemoteError, match="given up"):
        asks_for_more.failed(TransientError("gone"), 31)


def test_what_was_there_before_and_fell_back_is_no_gain(slept):
    """A server without ranges that sends now more, now less, must not be asked for ever."""
    attempts = Attempts(Patience(attempts=4, gain=0.01), sentence, total=1000, done=500)
    with pytest.raises(RemoteError, match=r"given up \(it ended after 400 of 1,000 bytes\)\.") as caught:
        for done in (100, 400, 100, 400):
            attempts.failed(CutShortError("it ended"), done)
    assert caught.value.brief == "it ended after 400 of 1,000 bytes"


@pytest.mark.parametrize("elsewhere", (False, True))
def test_where_there_is_another_place_a_hopeless_one_is_left_at_once(slept, elsewhere):
    unreachable = UnreachableError(ConnectionRefusedError(111, "Connection refused"))
    for error in (unreachable, TooSlowError("it is too slow")):
        attempts = Attempts(Patience(attempts=3, elsewhere=elsewhere), sentence)
        with pytest.raises(RemoteError):
            for _ in range(3):
                attempts.failed(error)
        assert attempts.failures == (1 if elsewhere else 3)
    assert str(unreachable) == "it cannot be reached (Connection refused)"


def test_a_place_that_was_reached_once_is_asked_again(slept):
    attempts = Attempts(Patience(attempts=9, elsewhere=True), sentence)
    attempts.failed(TransientError("it answers 500"))
    attempts.failed(UnreachableError(OSError()))


def test_persist_returns_what_comes_in_the_end(slept):
    left = [TransientError("one"), TransientError("two")]

    def work():
        if left:
            raise left.pop()
        return "here"

    assert persist(work, Patience(attempts=3), sentence) == "here"
    assert len(slept) == 2
