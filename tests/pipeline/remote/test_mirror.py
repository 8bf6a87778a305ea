"""Mirrors: journals, damage, changed objects, full disks."""

import re
import resource
import signal
import subprocess

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

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = call_alone(tmp_path, "download", *bucket.arguments(), preexec_fn=limit)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert re.search(r"the disk of \S*objects/\S+ is full \(File too large\): 252\.0 kB are needed", done.stderr)
    assert bucket.data_requests("masks") == []
    ok(tmp_path, "download", *bucket.arguments())


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
