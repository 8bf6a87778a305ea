"""The ranged download against real servers with real failures: what is fetched, not fetched twice, and said."""

import io
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import tracemalloc
from dataclasses import replace

import boto3
import numpy as np
import pytest
import torch
from servers import ENVIRONMENT, KEY_ID, http_server, s3_server
from test_pipeline import COMMAND, call, ok, released, states, table

import pipeline.sources.remote.fetch as fetching
import pipeline.sources.remote.objects as objects
from pipeline.errors import BadInputError
from pipeline.sources.remote.fetch import Need, fetch_missing
from pipeline.sources.remote.http import HttpObject
from pipeline.sources.remote.mirror import Mirror, Rows, split, subtract
from pipeline.sources.remote.npy import read_header
from pipeline.sources.remote.objects import Identity, RemoteError, fetch, retry_identify
from pipeline.sources.remote.s3 import Place, S3Object, make_client

BUCKET = "madrylab-datamodels"
KEYS = ("data/train_masks_50pct.npy", "data/test_margins_50pct.npy", "datamodels/test_50pct.pt")


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch):
    monkeypatch.setattr(objects, "FIRST_PAUSE", 0.01)


# The S3 source through the real command.


class Released:
    """A folder in the released layout, the same in a requester-pays bucket, and the server."""

    def __init__(self, folder, url, door, log):
        self.folder, self.url, self.door, self.log = folder, url, door, log
        os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
        self.client = boto3.client(
            "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=KEY_ID, aws_secret_access_key="s"
        )

    def arguments(self, *more):
        settings = (f"source.endpoint_url={self.url}", "source.fit_rows=3000", "source.held_out_rows=1000")
        images = (f"source.images={self.folder}/cifar/images.npz", "test.repeats=5")
        words = [word for s in (*settings, *images, *more) for word in ("--set", s)]
        return ["--config", "cifar10", *words]

    def put(self, key, content):
        self.client.put_object(Bucket=BUCKET, Key=f"cifar/{key}", Body=content)

    def data_requests(self, part):
        return [r for r in self.log.data(part) if r.status == 206]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    released(folder / "cifar", n=4000, d=500, targets=50)
    return folder


@pytest.fixture
def bucket(source, monkeypatch):
    for name in [n for n in os.environ if n.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with s3_server() as (url, door, log):
        made = Released(source, url, door, log)
        made.client.create_bucket(Bucket=BUCKET)
        for key in KEYS:
            made.put(key, (source / "cifar" / key).read_bytes())
        yield made


def test_the_whole_flow_with_the_released_weights(bucket, tmp_path):
    output = ok(tmp_path, "run", *bucket.arguments())
    assert "to fetch: 3 files (masks 500.0 kB, margins 100.0 kB, weights" in output
    assert "USD to the requester" in output
    # Only the held-out rows, and each byte once.
    for part, width, offset in (("masks", 500, 128), ("margins", 100, 128)):
        fetched = [(r.start, r.stop) for r in bucket.data_requests(part)]
        assert fetched == [(offset + 3000 * width, offset + 4000 * width)]
    rows = table(tmp_path / "reports" / "cifar10" / "tests.csv")
    assert len(rows) == 20
    assert {r["class_target"] for r in rows} == {"dog"}
    # The same as from the files themselves, without the 100 rows that told the coding.
    files = ("source.kind=files", f"source.folder={bucket.folder}/cifar", f"fit.file={bucket.folder}/cifar/{KEYS[2]}")
    ok(tmp_path, "run", *bucket.arguments(*files, "source.held_out_rows=900", "report.name=local"))
    assert table(tmp_path / "reports" / "local" / "tests.csv") == rows
    page = (tmp_path / "reports" / "cifar10" / "index.html").read_text()
    assert "seen on 100 models that are not tested" in page
    assert "900 held-out models" in page
    before = len(bucket.log.requests)
    assert states(ok(tmp_path, "run", *bucket.arguments()))["download"] == "cached"
    assert len(bucket.log.requests) == before


def test_widening_fetches_only_what_is_missing(bucket, tmp_path):
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    ok(tmp_path, "download", *bucket.arguments())
    ok(tmp_path, "fit", *bucket.arguments("fit.mode=lasso", "fit.n_lambdas=5"))
    fetched = sorted((r.start, r.stop) for r in bucket.data_requests("masks"))
    rows = [((a - 128) // 500, (b - 128) // 500) for a, b in fetched]
    assert rows == [(0, 3000), (3000, 3600), (3600, 4000)]
    masks = np.load(next((tmp_path / "data" / "objects").glob("*/array.npy"), None))
    expected = {np.packbits(np.load(bucket.folder / "cifar" / KEYS[0]), axis=1).tobytes()}
    stored = {np.load(p).tobytes() for p in (tmp_path / "data" / "objects").glob("*/array.npy")}
    assert expected <= stored
    assert masks.nbytes < 4000 * 500  # Bits, or float16 margins: never the raw masks.


def test_calibration_fetches_the_fit_rows(bucket, tmp_path):
    """Own scores on remote masks: the rows that calibrate them are not those that are tested."""
    np.save(tmp_path / "scores.npy", np.random.default_rng(0).standard_normal((500, 50)))
    own = bucket.arguments("fit.file=scores.npy", "source.fit_rows=800")
    ok(tmp_path, "download", *own)
    ok(tmp_path, "fit", *own, "--set", "fit.calibrate=true")
    rows = [((r.start - 128) // 500, (r.stop - 128) // 500) for r in bucket.data_requests("masks")]
    assert sorted(rows) == [(0, 800), (3000, 4000)]


def test_only_named_targets_are_kept(bucket, tmp_path):
    ok(tmp_path, "run", *bucket.arguments("fit.targets=[1,3,5,49]"))
    shapes = {np.load(p, mmap_mode="r").shape for p in (tmp_path / "data" / "objects").glob("*/array.npy")}
    assert shapes == {(4000, 63), (4000, 4)}


def test_dry_run_says_and_stops(bucket, tmp_path):
    output = ok(tmp_path, "run", *bucket.arguments(), "--dry-run")
    assert "to fetch: 3 files" in output
    assert output.endswith("dry run: nothing was fetched.\n")
    assert bucket.data_requests("masks") == []


def test_a_terminal_is_asked_and_no_means_no(bucket, tmp_path):
    """Under a pseudo-terminal."""
    import pty

    def ask(answer, *options):
        primary, secondary = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, "download", *bucket.arguments(), *options],
            stdin=secondary, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, text=True,
        )  # fmt: skip
        os.write(primary, answer)
        output, _ = process.communicate(timeout=60)
        os.close(primary)
        os.close(secondary)
        assert process.returncode == 0, output
        return output

    assert "nothing was fetched" in ask(b"n\n")
    assert bucket.data_requests("masks") == []
    assert "Fetch?" not in ask(b"n\n", "--yes")
    assert len(bucket.data_requests("masks")) == 1


def corrupt(fault_code, status="403 Forbidden"):
    def fault(environ, note):
        from servers import _refusal

        return _refusal(fault_code, note, status)

    return fault


REFUSALS = {
    "no credentials": ({"unset": True}, (), None, "no AWS credentials were found"),
    "unknown key id": ({"AWS_ACCESS_KEY_ID": "AKIDOTHER"}, (), None, "credentials were refused (InvalidAccessKeyId)"),
    "missing object": ({}, ("source.percent=10",), None, "or there is no such key"),
    "known keys are named": ({}, ("source.percent=75",), None, "cifar/data/train_masks_{10,20,50,75}pct.npy"),
    "no such bucket": ({}, ("source.bucket=other-bucket",), None, "no bucket 'other-bucket'"),
    "wrong region": ({}, (), corrupt("PermanentRedirect", "301 Moved"), "set source.region"),
    "clock skew": ({}, (), corrupt("RequestTimeTooSkewed"), "the clock of this machine is wrong"),
    "expired": ({}, (), corrupt("ExpiredToken", "400 Bad Request"), "credentials were refused (ExpiredToken)"),
    "overlap": ({}, ("source.fit_rows=3500",), None, "overlap: there are only 4000 models"),
    "bad endpoint": ({}, ("source.endpoint_url=nonsense",), None, "Invalid endpoint"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_each_refusal_has_its_own_sentence(bucket, tmp_path, monkeypatch, case):
    environment, settings, fault, part = REFUSALS[case]
    for name, value in environment.items():
        if name == "unset":
            monkeypatch.delenv("AWS_ACCESS_KEY_ID")
            monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        else:
            monkeypatch.setenv(name, value)
    if fault:
        bucket.door.faults.append(fault)
    done = call(tmp_path, "run", *bucket.arguments(*settings))
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class Hostile:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def hostile_pt():
    stream = io.BytesIO()
    torch.save({"weight": Hostile(), "bias": Hostile()}, stream)
    return stream.getvalue()


def object_npy():
    stream = io.BytesIO()
    np.save(stream, np.array([[Hostile()] * 500] * 4000, object), allow_pickle=True)
    return stream.getvalue()


GOOD_MASKS = npy(np.random.default_rng(7).random((4000, 500)) < 0.5)
CODE = b"__import__('os').system('touch pwned')".ljust(118)
OBJECTS = {
    "not an npy": (0, b"<html>please log in</html>" * 100, "is not an .npy file"),
    "truncated": (0, GOOD_MASKS[:-1], "is truncated or damaged"),
    "broken header": (0, GOOD_MASKS[:8] + b"\xff\xff" + GOOD_MASKS[10:], "damaged .npy header"),
    "code in the header": (0, GOOD_MASKS[:10] + CODE + GOOD_MASKS[128:], "damaged .npy header"),
    "pickled npy": (0, object_npy(), "must be a C-ordered matrix of numbers"),
    "float masks": (0, npy(np.zeros((4000, 500), np.float32)), "must hold bool masks"),
    "masks of 2": (0, npy(np.full((4000, 500), 2, np.uint8)), "bytes other than 0 and 1"),
    "Fortran order": (0, npy(np.asfortranarray(np.zeros((4000, 500), bool))), "must be a C-ordered matrix"),
    "one-dimensional": (0, npy(np.zeros(4000, bool)), "must be a C-ordered matrix"),
    "other rows": (1, npy(np.zeros((10, 50), np.float16)), "has 4000 rows and"),
    "integer margins": (1, npy(np.zeros((4000, 50), np.int64)), "must hold margins as floats"),
    "NaN margins": (1, npy(np.full((4000, 50), np.nan, np.float16)), "holds a margin that is NaN"),
    "hostile weights": (2, hostile_pt(), "is not a file of weights"),
    "no weights": (2, b"PK\x03\x04 nothing", "is not a file of weights"),
}  # fmt: skip


@pytest.mark.parametrize("case", OBJECTS)
def test_bad_objects_are_refused_and_run_nothing(bucket, tmp_path, case):
    number, content, part = OBJECTS[case]
    bucket.put(KEYS[number], content)
    done = call(tmp_path, "run", *bucket.arguments())
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "pwned").exists()


def test_weights_that_predict_nothing_stop_the_run_with_both_figures(bucket, tmp_path):
    stream = io.BytesIO()
    torch.save({"weight": torch.ones(500, 50), "bias": torch.zeros(50)}, stream)
    bucket.put(KEYS[2], stream.getvalue())
    done = call(tmp_path, "run", *bucket.arguments())
    assert done.returncode == 2
    assert "(mask)" in done.stderr
    assert "(signed)" in done.stderr
    assert "(constant)" in done.stderr


def test_a_changed_remote_object_is_noticed(bucket, tmp_path):
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    bucket.put(KEYS[0], GOOD_MASKS)
    done = call(tmp_path, "download", *bucket.arguments())
    assert done.returncode == 2
    assert "has changed since rows of it were fetched" in done.stderr


def test_a_damaged_mirror_is_noticed_and_only_that_part_is_fetched_again(bucket, tmp_path):
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    ok(tmp_path, "download", *bucket.arguments())
    path = next(p for p in (tmp_path / "data" / "objects").glob("*/array.npy") if np.load(p).dtype == np.uint8)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    before = len(bucket.data_requests("masks"))
    output = ok(tmp_path, "download", *bucket.arguments())
    assert "is damaged: the checksum of bytes" in output
    assert "rows 3600..3999: fetched again" in output
    again = bucket.data_requests("masks")[before:]
    assert [((r.start - 128) // 500, (r.stop - 128) // 500) for r in again] == [(3600, 4000)]
    assert states(ok(tmp_path, "download", *bucket.arguments()))["download"] == "cached"


def journal(folder):
    """{(object's key, first row, last row + 1)} of everything that is complete."""
    done = set()
    for note in folder.glob("data/objects/*/object.json"):
        name = json.loads(note.read_text())["name"].rpartition("/")[2]
        rows = note.with_name("rows.jsonl")
        for line in rows.read_text().splitlines() if rows.exists() else []:
            start, stop, _ = json.loads(line)
            done.add((name, start, stop))
    return done


def test_killed_at_twenty_points_nothing_complete_is_fetched_twice(bucket, tmp_path, monkeypatch):
    """Small ranges and a slow server, so that kills fall between and into ranges; the server's log is the witness."""
    small = [*COMMAND[:2], "import pipeline.sources.remote.fetch as f; f.RUN_BYTES = 40_000; " + COMMAND[2]]
    bucket.door.delay = 0.02
    rng = random.Random(1)
    kills = 0
    arguments = bucket.arguments("fit.mode=lasso")
    while kills < 20:
        complete, seen = journal(tmp_path), len(bucket.log.requests)
        process = subprocess.Popen([*small, "download", *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.75, 1.1))
        process.send_signal(signal.SIGKILL)
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
    done = subprocess.run([*small, "download", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert before <= journal(tmp_path)
    masks = next(p for p in tmp_path.glob("data/objects/*/array.npy") if np.load(p).dtype == np.uint8)
    np.testing.assert_array_equal(np.load(masks), np.packbits(np.load(bucket.folder / "cifar" / KEYS[0]), axis=1))


def test_errors_of_the_server_are_tried_again(bucket, tmp_path):
    left = {"count": 4}

    def fault(environ, note):
        from servers import _refusal

        if left["count"] and environ.get("HTTP_RANGE", "").startswith("bytes=1500"):
            left["count"] -= 1
            return _refusal("SlowDown", note, "503 Slow Down")
        return None

    bucket.door.faults.append(fault)
    ok(tmp_path, "download", *bucket.arguments())
    assert left["count"] == 0


FULL = """
import errno, os
whole, left = os.pwrite, [30_000]  # Of a disk with 30 kB left: it takes what fits, then says that it is full.

def pwrite(handle, content, place):
    fits = min(len(content), left[0])
    if not fits:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    left[0] -= fits
    return whole(handle, content[:fits], place)

os.pwrite = pwrite
import pipeline.sources.remote.fetch
pipeline.sources.remote.fetch.RUN_BYTES = 100_000
"""


def test_a_full_disk_is_one_sentence_and_what_is_complete_is_kept(bucket, tmp_path):
    """63 kB of masks are wanted, in ranges of 12.6 kB: two fit, the third only in part."""
    command = [*COMMAND[:2], FULL + COMMAND[2], "download", *bucket.arguments()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert re.search(
        r"the disk of \S*objects/\S+ is full \(No space left on device\): 37\.8 kB are needed", done.stderr
    )
    complete = [(a, b) for name, a, b in journal(tmp_path) if "masks" in name]
    assert len(complete) == 2
    before = len(bucket.data_requests("masks"))
    ok(tmp_path, "download", *bucket.arguments())
    again = [((r.start - 128) // 500, (r.stop - 128) // 500) for r in bucket.data_requests("masks")[before:]]
    assert sum(b - a for a, b in again) == 600
    assert not any(first < b and a < last for first, last in again for a, b in complete)
    masks = next(p for p in tmp_path.glob("data/objects/*/array.npy") if np.load(p).dtype == np.uint8)
    expected = np.packbits(np.load(bucket.folder / "cifar" / KEYS[0]), axis=1)
    np.testing.assert_array_equal(np.load(masks)[3000:], expected[3000:])


def test_a_disk_that_cannot_hold_a_file_of_this_size_is_the_same_sentence(bucket, tmp_path):
    """A limit on the size of files refuses the mirror of 4000 × 63 bytes before a row is asked for."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = call(tmp_path, "download", *bucket.arguments(), preexec_fn=limit)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert re.search(r"the disk of \S*objects/\S+ is full \(File too large\): 252\.0 kB are needed", done.stderr)
    assert bucket.data_requests("masks") == []
    ok(tmp_path, "download", *bucket.arguments())


# The same engine over plain HTTP, with faults.

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


def test_http_ranges(tmp_path):
    with http_server({"/m.npy": CONTENT}) as (url, log):
        stored = fetched(need_of(f"{url}/m.npy", tmp_path))
        assert (stored[100:300] == 0).all()
        assert sum(r.stop - r.start for r in log.data("m.npy")) == 400 * 1000


def s3_object(url):
    place = Place("bucket", url)
    return S3Object(make_client(place, 2), place, "m.npy", "")


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
        assert peak < 7.7e6 + 1.5e6


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
    handler.answer(request, 206, body[:90_000], _range(request), length=len(body))
    handler.drop()


def short(handler, request, body):
    handler.answer(request, 206, body[:-10], _range(request))


def stalled(handler, request, body):
    handler.answer(request, 206, body[:5000], _range(request), length=len(body))
    time.sleep(4)


def status_500(handler, request, body):
    handler.answer(request, 500, b"")


def _range(request):
    return {"Content-Range": f"bytes {request.start}-{request.stop - 1}/{len(CONTENT)}"}


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
        handler.answer(request, 206, body[:90_000], _range(request), length=len(body))
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
        handler.answer(request, 206, b"", _range(request), length=len(body))
        for k in range(0, len(body), 20_000):
            time.sleep(0.05)
            handler.wfile.write(body[k : k + 20_000])
        return True

    with http_server({"/m.npy": CONTENT}, fault=drip) as (url, _):
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


def test_endless_failure_ends(tmp_path):
    with http_server({"/m.npy": CONTENT}, fault=failing(10**6, status_500)) as (url, _):
        need = need_of(f"{url}/m.npy", tmp_path)
        with pytest.raises(RemoteError, match="after 7 attempts"):
            fetch_missing(need, lambda n: None)
    with pytest.raises(RemoteError, match="does not answer"):
        retry_identify(HttpObject("http://127.0.0.1:9/none"))


@pytest.mark.parametrize("piece", (objects.PIECE, 50_000), ids=("one piece", "whole pieces"))
def test_a_server_that_sends_other_bytes_or_too_many_is_not_believed(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(fetching, "PIECE", piece)

    def shifted(handler, request, body):
        handler.answer(
            request, 206, body, {"Content-Range": f"bytes {request.start + 1}-{request.stop}/{len(CONTENT)}"}
        )

    def longer(handler, request, body):
        handler.answer(request, 206, body + b"more", _range(request))

    for how, part in ((shifted, "other bytes than were asked for"), (longer, "more bytes than were asked for")):
        with http_server({"/m.npy": CONTENT}, fault=failing(10**6, how)) as (url, _):
            need = need_of(f"{url}/m.npy", tmp_path / how.__name__)
            with pytest.raises(RemoteError, match=part):
                fetch_missing(need, lambda n: None)


def test_http_source_through_the_command(source, tmp_path):
    """Masks and margins from URLs, LASSO on the first rows; with and without checksums; a wrong checksum is refused."""
    import hashlib

    contents = {f"/{key}": (source / "cifar" / key).read_bytes() for key in KEYS}
    digests = [hashlib.sha256(contents[f"/{key}"]).hexdigest() for key in KEYS]
    with http_server(contents) as (url, _):
        settings = [
            "source.kind=http", f"source.masks_url={url}/{KEYS[0]}", f"source.margins_url={url}/{KEYS[1]}?dl=1",
            "source.fit_rows=3000", "source.held_out_rows=1000", f"source.images={source}/cifar/images.npz",
            "test.target_class=dog", "test.repeats=5", "fit.n_lambdas=5",
        ]  # fmt: skip
        contents[f"/{KEYS[1]}?dl=1"] = contents[f"/{KEYS[1]}"]
        words = [word for s in settings for word in ("--set", s)]
        ok(tmp_path, "run", *words)
        checked = ["--set", f"source.masks_sha256={digests[0]}", "--set", f"source.margins_sha256={digests[1]}"]
        ok(tmp_path, "run", *words, *checked, "--set", "report.name=checked")
        assert table(tmp_path / "reports" / "checked" / "tests.csv") == table(
            tmp_path / "reports" / "digits" / "tests.csv"
        )
        done = call(tmp_path, "run", *words, "--set", f"source.masks_sha256={'0' * 64}")
        assert done.returncode == 2
        assert "has not the sha256" in done.stderr
        weights = ["--set", f"source.weights_url={url}/{KEYS[2]}", "--set", "fit.mode=load"]
        ok(tmp_path, "run", *words, *weights)


# Small parts.


def test_intervals():
    assert subtract([(0, 10)], []) == [(0, 10)]
    assert subtract([(0, 10)], [(0, 10)]) == []
    assert subtract([(5, 10)], [(0, 6), (9, 20)]) == [(6, 9)]
    assert split([(0, 5), (7, 8)], 2) == [(0, 2), (2, 4), (4, 5), (7, 8)]


def test_half_a_journal_line_is_passed_over(tmp_path):
    rows = Rows(10, 8, 0, (10, 1), "uint8", lambda v: np.packbits(v, axis=1))
    mirror = Mirror(tmp_path, "x", Identity(80, "t"), rows, "masks")
    mirror.write(0, 4, [bytearray(32)])
    with (mirror.folder / "rows.jsonl").open("a") as file:
        file.write('[4, 6, "ab')
    again = Mirror(tmp_path, "x", Identity(80, "t"), rows, "masks")
    assert again.missing([(0, 10)]) == [(4, 10)]
    again.write(4, 10, [bytearray(16), bytearray(32)])
    assert Mirror(tmp_path, "x", Identity(80, "t"), rows, "masks").missing([(0, 10)]) == []
    with pytest.raises(BadInputError, match="has changed"):
        Mirror(tmp_path, "x", Identity(80, "other"), rows, "masks")


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
