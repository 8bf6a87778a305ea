"""The places of CIFAR-10: which, in which order; mirrors on loopback that drop, stall, lie and are killed."""

import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace

import pytest
from faulty_mirror import Server, answer, drip, drop_at, hang_at, hang_up, ignore_range, length, no_length, other_part
from small_cifar10 import HURRY, IMPATIENT, md5, refusal, wait_for

from pipeline.errors import BadInputError
from pipeline.images.checksums import CIFAR10
from pipeline.images.places import DEFAULT_MIRRORS, PART, PATIENCE, Job, Patience, places


def names(*mirrors, use_torchvision=True, use_npm=True):
    return [place.name for place in places(mirrors, use_torchvision=use_torchvision, use_npm=use_npm)]


def test_mirrors_come_first_then_torchvision_then_npm():
    assert names("b", "a") == ["b", "a", "torchvision", "npm"]
    assert names(*DEFAULT_MIRRORS, use_torchvision=False) == [*DEFAULT_MIRRORS, "npm"]
    assert names(use_npm=False) == ["torchvision"]
    assert names(use_torchvision=False, use_npm=False) == []


def test_a_mirror_that_is_not_there_is_one_short_reason_and_leaves_nothing(tmp_path):
    (mirror,) = places(["http://127.0.0.1:1/a.tar.gz"], use_torchvision=False, use_npm=False)
    with pytest.raises(BadInputError) as caught:
        mirror.read(Job(tmp_path, CIFAR10, replace(PATIENCE, connect=2), quiet=True))
    assert str(caught.value) == "it cannot be reached (Connection refused)"
    assert list(tmp_path.iterdir()) == []


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
