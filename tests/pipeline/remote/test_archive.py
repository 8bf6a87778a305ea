"""One whole file over HTTP: gone on with after drops and kills, begun anew where it changes, never taken for whole."""

import hashlib
import re
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest
from servers import http_server

from pipeline.remote.archive import Archive, download, size_of
from pipeline.remote.failures import ChangedError, RemoteError
from pipeline.remote.http import HttpObject
from pipeline.remote.patience import Patience
from pipeline.remote.pieces import Pace

CONTENT = hashlib.shake_128(b"one").digest(300_000)
OTHER = hashlib.shake_128(b"two").digest(300_000)
HALF = 150_000
HURRY = Patience(attempts=3, pause=0.01, gain=0.01, elsewhere=True)


def of(content):
    return Archive(len(content), hashlib.md5(content).hexdigest())


class Server:
    """A fault of `http_server`: the k-th request is answered by the k-th of `answers`, the rest as the last.

    An answer is (content, upto, headers): the bytes from where it was asked, up to `upto`, and then a drop.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, handler, request, _):
        found = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(found[1]) if found else 0
        self.asked.append((start, handler.headers.get("If-Match")))
        content, upto, headers = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if "status" in headers:
            handler.answer(request, headers["status"], b"", {"Retry-After": headers.get("after", "0")})
            return True
        ranged = start > 0 and headers.get("ranges", True)
        start = start if ranged else 0
        told = {"ETag": headers.get("etag", '"v1"')}
        if ranged:
            told["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        handler.answer(request, 206 if ranged else 200, content[start:upto], told, length=len(content) - start)
        if upto is not None:
            handler.drop()
        return True


def get(server, part, archive=None, **options):
    """Where each request began; the part must be the archive then."""
    archive = archive or of(CONTENT)
    with http_server({}, fault=server) as (url, _):
        remote = HttpObject(f"{url}/a.tar.gz", timeout=(2.0, 2.0), size=archive.size, **options)
        with closing(remote):
            download(remote, part, archive, HURRY, lambda there: None)
    assert hashlib.md5(part.read_bytes()).hexdigest() == archive.md5
    return [start for start, _ in server.asked]


WHOLE = (CONTENT, None, {})


def test_one_request_is_enough(tmp_path):
    assert get(Server(WHOLE), tmp_path / "part") == [0]


def test_a_drop_is_gone_on_with_and_the_same_version_asked_for(tmp_path):
    server = Server((CONTENT, 40_000, {}), (CONTENT, HALF, {}), WHOLE)
    assert get(server, tmp_path / "part") == [0, 40_000, HALF]
    assert [tag for _, tag in server.asked] == [None, '"v1"', '"v1"']


@pytest.mark.parametrize(
    "answer", ((OTHER, None, {"etag": '"v2"'}), (OTHER, None, {"status": 412})), ids=("tag", "412")
)
def test_a_file_that_changes_under_way_is_begun_anew(tmp_path, answer):
    """Whether the server looks at If-Match or not: what came of the old one is of no use."""
    new = (OTHER, None, {"etag": '"v2"'})
    server = Server((CONTENT, HALF, {}), answer, new)
    assert get(server, tmp_path / "part", of(OTHER)) == [0, HALF, 0]
    assert server.asked[-1][1] is None


def test_a_file_that_changes_again_and_again_is_given_up(tmp_path):
    answers = [(CONTENT, HALF, {"etag": f'"v{k}"'}) for k in range(9)]
    server = Server(*answers)
    with pytest.raises(ChangedError) as caught:
        get(server, tmp_path / "part")
    assert caught.value.brief == "it changed while it was sent"
    assert len(server.asked) == 4


def test_a_server_without_ranges_begins_anew_in_the_same_answer(tmp_path):
    server = Server((CONTENT, HALF, {"ranges": False}), (CONTENT, None, {"ranges": False}))
    assert get(server, tmp_path / "part") == [0, HALF]


def test_a_server_without_ranges_that_never_gets_further_is_given_up(tmp_path):
    """Now more, now less: no gain, though each attempt brings bytes."""
    answers = [(CONTENT, upto, {"ranges": False}) for upto in (HALF, 40_000, HALF, 40_000, HALF, 40_000)]
    server = Server(*answers)
    with pytest.raises(RemoteError, match=r"the connection broke after [\d,]+ of 300,000 bytes"):
        get(server, tmp_path / "part")
    assert len(server.asked) == 3
    assert 0 < size_of(tmp_path / "part") < len(CONTENT)


def test_retry_after_is_honoured(tmp_path):
    started = time.monotonic()
    server = Server((CONTENT, None, {"status": 503, "after": "1"}), WHOLE)
    assert get(server, tmp_path / "part") == [0, 0]
    assert time.monotonic() - started > 0.9


def test_a_mirror_that_drips_is_left_at_once(tmp_path):
    """There are other places."""

    def drip(handler, request, _):
        handler.answer(request, 200, b"", length=len(CONTENT))
        for k in range(40):
            time.sleep(0.02)
            try:
                handler.wfile.write(CONTENT[k : k + 1])
            except OSError:
                break
        handler.close_connection = True
        return True

    drip.asked = []
    with pytest.raises(RemoteError, match="it is too slow"):
        get(drip, tmp_path / "part", pace=Pace(10_000, 0.2))
    assert 0 < size_of(tmp_path / "part") < 40


def test_what_is_wrong_is_not_kept_and_what_was_wrong_before_costs_one_download(tmp_path):
    part = tmp_path / "part"
    server = Server((OTHER, None, {}))
    with pytest.raises(RemoteError) as caught:
        get(server, part)
    assert caught.value.brief == f"what it sent has md5 {of(OTHER).md5}, not {of(CONTENT).md5}"
    assert not part.exists()
    for left, asked in ((OTHER[:HALF], [HALF, 0]), (OTHER, [0]), (OTHER + b"x", [0]), (CONTENT[:HALF], [HALF])):
        part.write_bytes(left)
        assert get(Server(WHOLE), part) == asked


def test_another_size_is_refused_unread(tmp_path):
    longer = CONTENT + b"x"
    with pytest.raises(RemoteError, match="offers 300001 bytes where the archive has 300000"):
        get(Server((longer, None, {})), tmp_path / "part")
    (tmp_path / "part").write_bytes(CONTENT[:HALF])
    with pytest.raises(RemoteError) as caught:
        get(Server((longer, None, {})), tmp_path / "part")
    assert caught.value.brief == "it answers with another part than bytes 150000- of 300000"
    assert (tmp_path / "part").read_bytes() == CONTENT[:HALF]


def test_progress_counts_what_is_there(tmp_path):
    seen = []
    server = Server((CONTENT, HALF, {"ranges": False}), (CONTENT, None, {"ranges": False}))
    with http_server({}, fault=server) as (url, _):
        download(HttpObject(f"{url}/a"), tmp_path / "part", of(CONTENT), HURRY, seen.append)
    assert (seen[0], seen[-1]) == (0, len(CONTENT))
    anew = seen.index(0, 1)
    assert seen[anew - 1] == HALF
    assert seen[:anew] == sorted(seen[:anew])
    assert seen[anew:] == sorted(seen[anew:])


CALL = """
import sys
from pathlib import Path
from pipeline.remote.archive import Archive, download
from pipeline.remote.http import HttpObject
from pipeline.remote.patience import Patience
archive = Archive(int(sys.argv[3]), sys.argv[4])
download(HttpObject(sys.argv[1]), Path(sys.argv[2]), archive, Patience(), lambda there: None)
"""


def test_killed_it_goes_on_from_there(tmp_path):
    part, archive = tmp_path / "part", of(CONTENT)
    server = Server(WHOLE)

    def slowly(handler, request, content):
        if server.asked:
            return server(handler, request, content)
        server.asked.append((0, None))
        handler.answer(request, 200, CONTENT[:HALF], length=len(CONTENT))
        time.sleep(5)
        return True

    slowly.asked = server.asked
    with http_server({}, fault=slowly) as (url, _):
        call = [sys.executable, "-c", CALL, f"{url}/a", str(part), str(archive.size), archive.md5]
        process = subprocess.Popen(call)
        end = time.monotonic() + 30
        while size_of(part) == 0:
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        left = size_of(part)
        assert 0 < left <= HALF
        download(HttpObject(f"{url}/a", size=archive.size), part, archive, HURRY, lambda there: None)
    assert part.read_bytes() == CONTENT
    assert [start for start, _ in server.asked] == [0, left]
