"""Mirrors: journals, damage, changed objects, full disks."""

import json
import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from command_here import call, ok
from real_command import COMMAND, states
from real_command import call as call_alone
from released_bucket import GOOD_MASKS, KEYS, journal

from pipeline.errors import BadInputError
from pipeline.remote.mirror import Mirror, Rows, split, subtract
from pipeline.remote.objects import Identity


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
    assert "rows 3,600 to 3,999: fetched again" in output
    again = bucket.data_requests("masks")[before:]
    assert [((r.start - 128) // 500, (r.stop - 128) // 500) for r in again] == [(3600, 4000)]
    assert states(ok(tmp_path, "download", *bucket.arguments()))["download"] == "cached"


@pytest.mark.parametrize("place", (0, 6, 8, 22, 27, 61, 74, 127))
def test_a_damaged_header_is_noticed_and_mended_and_nothing_is_fetched_again(bucket, tmp_path, place):
    """Magic, version, length, names, dtype, order, shape, padding: rows are read by it, so it is no less than they."""
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    path = next(p for p in (tmp_path / "data" / "objects").glob("*/array.npy") if np.load(p).dtype == np.uint8)
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    before = len(bucket.data_requests("masks"))
    output = ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    assert "is damaged: the checksum of bytes 0 to 127 has changed" in output
    assert path.read_bytes() == whole
    assert len(bucket.data_requests("masks")) == before


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
import pipeline.remote.fetch
pipeline.remote.fetch.RUN_BYTES = 100_000
"""


def test_a_full_disk_is_one_sentence_and_what_is_complete_is_kept(bucket, tmp_path):
    """63 kB of masks are wanted, in ranges of 12.6 kB: two fit, the third only in part."""
    command = [*COMMAND[:2], FULL + COMMAND[2], "download", *bucket.arguments()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
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

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = call_alone(tmp_path, "download", *bucket.arguments(), preexec_fn=limit)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert re.search(r"the disk of \S*objects/\S+ is full \(File too large\): 252\.0 kB are needed", done.stderr)
    assert bucket.data_requests("masks") == []
    ok(tmp_path, "download", *bucket.arguments())


def test_intervals():
    assert subtract([(0, 10)], []) == [(0, 10)]
    assert subtract([(0, 10)], [(0, 10)]) == []
    assert subtract([(5, 10)], [(0, 6), (9, 20)]) == [(6, 9)]
    assert split([(0, 5), (7, 8)], 2) == [(0, 2), (2, 4), (4, 5), (7, 8)]


ROWS = Rows(10, 8, 0, (10, 1), "uint8", lambda v: np.packbits(v, axis=1))


def opened(home, tag="t"):
    return Mirror(home, "x", Identity(80, tag), ROWS, "masks")


def test_half_a_journal_line_is_passed_over(tmp_path):
    mirror = opened(tmp_path)
    mirror.write(0, 4, [bytearray(32)])
    with (mirror.folder / "rows.jsonl").open("a") as file:
        file.write('[4, 6, "ab')
    again = opened(tmp_path)
    assert again.missing([(0, 10)]) == [(4, 10)]
    again.write(4, 10, [bytearray(16), bytearray(32)])
    assert opened(tmp_path).missing([(0, 10)]) == []
    assert opened(tmp_path).complaints == again.complaints == []
    with pytest.raises(BadInputError, match="has changed"):
        opened(tmp_path, "other")


@pytest.fixture
def filled(tmp_path):
    """A mirror with all rows, in two runs, as its folder."""
    mirror = opened(tmp_path)
    mirror.write(0, 4, [bytes([1]) * 32])
    mirror.write(4, 10, [bytes([1]) * 48])
    return mirror.folder


def replaced_by_folder(path):
    path.unlink()
    path.mkdir()
    (path / "precious").touch()


HARMS = {
    "emptied": lambda path: path.write_bytes(b""),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 3),
    "deep": lambda path: path.write_text("[" * 9999),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "a list": lambda path: path.write_text("[1, 2]\n"),
    "a folder": replaced_by_folder,
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_description_is_named_and_all_rows_are_forgotten(filled, harm):
    """Nobody knows any more of which version they are; the store is not blocked by it."""
    harm(filled / "object.json")
    mirror = opened(filled.parent)
    assert mirror.complaints == [
        f"damaged  {filled / 'object.json'}: it does not say what rows were fetched of; all are fetched again"
    ]
    assert mirror.missing([(0, 10)]) == [(0, 10)]
    again = opened(filled.parent)
    assert (again.complaints, again.missing([(0, 10)])) == ([], [(0, 10)])


def test_every_flipped_bit_of_the_description_is_damage_or_nothing(filled):
    """In the name of the checksum, too: it must not look as if an earlier version had written it."""
    note, rows = filled / "object.json", (filled / "rows.jsonl").read_bytes()
    whole = note.read_bytes()
    for place in range(len(whole)):
        note.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        (filled / "rows.jsonl").write_bytes(rows)
        opened(filled.parent)
        assert note.read_bytes() == whole, place


@pytest.mark.parametrize("name", ("array.npy", "rows.jsonl"))
@pytest.mark.parametrize("content", (b"", b"precious" * 99))
def test_nothing_is_written_through_a_link(filled, tmp_path, name, content):
    other = tmp_path / "precious"
    other.write_bytes(content)
    (filled / name).unlink()
    (filled / name).symlink_to(other)
    mirror = opened(filled.parent)
    assert mirror.missing([(0, 10)]) == [(0, 10)]
    mirror.write(0, 10, [bytes([1]) * 80])
    assert other.read_bytes() == content
    again = opened(filled.parent)
    assert (again.missing([(0, 10)]), again.drop_damaged([(0, 10)])) == ([], [])


def test_an_array_that_was_moved_to_a_larger_disk_is_used_there(filled, tmp_path):
    (filled / "array.npy").rename(tmp_path / "moved.npy")
    (filled / "array.npy").symlink_to(tmp_path / "moved.npy")
    mirror = opened(filled.parent)
    assert (mirror.missing([(0, 10)]), mirror.drop_damaged([(0, 10)])) == ([], [])
    assert mirror.file.is_symlink()


def test_a_flipped_digit_of_the_description_is_damage_and_not_another_version(filled):
    note = filled / "object.json"
    text = note.read_text()
    note.write_text(text.replace('"size": 80', '"size": 81'))
    assert len(opened(filled.parent).complaints) == 1
    old = {name: value for name, value in json.loads(text).items() if name != "checksum"}
    note.write_text(json.dumps(old | {"etag": "before"}))  # Of an earlier version of this program.
    with pytest.raises(BadInputError, match="has changed"):
        opened(filled.parent)
    note.write_text(json.dumps(old))
    assert opened(filled.parent).complaints == []


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_journal_never_blocks(filled, harm):
    harm(filled / "rows.jsonl")
    mirror = opened(filled.parent)
    assert mirror.missing([(0, 10)]) == [(0, 10)]
    mirror.write(0, 10, [bytes([1]) * 80])
    again = opened(filled.parent)
    assert (again.complaints, again.missing([(0, 10)])) == ([], [])


@pytest.mark.parametrize("harm", (lambda path: path.unlink(), replaced_by_folder))
def test_a_lost_array_is_named_and_its_rows_are_forgotten(filled, harm):
    harm(filled / "array.npy")
    mirror = opened(filled.parent)
    assert mirror.complaints == [f"damaged  {filled / 'array.npy'}: it is missing; its rows are fetched again"]
    assert mirror.missing([(0, 10)]) == [(0, 10)]


def test_a_file_in_the_place_of_the_mirror_blocks_nothing(tmp_path):
    (tmp_path / opened(tmp_path / "elsewhere").id).write_text("precious")
    assert opened(tmp_path).missing([(0, 10)]) == [(0, 10)]


def test_a_cut_array_has_its_size_again_and_loses_only_what_was_cut(filled):
    os.truncate(filled / "array.npy", 128 + 5)
    mirror = opened(filled.parent)
    assert mirror.drop_damaged([(0, 10)]) == [(4, 10)]
    assert np.load(filled / "array.npy").shape == (10, 1)


def test_rows_are_on_the_disk_before_they_are_noted(tmp_path, monkeypatch):
    mirror, calls, fsync = opened(tmp_path), [], os.fsync

    def named(handle):
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        calls.append((name, (mirror.folder / "rows.jsonl").is_file()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", named)
    mirror.write(0, 4, [bytearray(32)])
    assert calls[:2] == [("array.npy", False), ("rows.jsonl", True)]


def test_a_kept_time_stamp_hides_no_damaged_row(filled):
    """Nor does the note `mtime` of earlier versions."""
    path = filled / "array.npy"
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    (filled / "mtime").write_text(str(before.st_mtime_ns))
    assert opened(filled.parent).drop_damaged([(0, 10)]) == [(4, 10)]
