"""Notes of hashed files: believed in one boot, of a file that nobody has touched."""

import json
import os
import time

import pytest

from pipeline.store import hash_notes
from pipeline.store.hash_notes import FILE, SETTLED_NS, HashNotes

LATER = 10 * SETTLED_NS


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "large.npy"
    path.write_bytes(b"x" * 100)
    return path


@pytest.fixture
def noted(tmp_path, path):
    """As by another process: only the file is left."""
    notes = HashNotes(tmp_path)
    notes.note(path, "", path.stat(), time.time_ns() + LATER, "ab")
    notes.save()
    return tmp_path


def found(folder, path, what=""):
    return HashNotes(folder).digest(path, what, path.stat())


def test_a_file_that_nobody_touched_is_known(noted, path):
    assert found(noted, path) == "ab"
    assert found(noted, path, "of a part") is None
    other = path.with_name("other.npy")
    other.write_bytes(b"x" * 100)
    assert found(noted, other) is None
    assert HashNotes(None).digest(path, "", path.stat()) is None


def test_a_kept_time_stamp_hides_nothing(noted, path):
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"y")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found(noted, path) is None


def test_the_place_of_another_file_is_not_that_of_its_note(noted, path):
    """The same bytes and times at the same path, but another file."""
    before = path.stat()
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
    copy.replace(path)
    assert found(noted, path) is None


def test_another_boot_believes_nothing(noted, path, monkeypatch):
    other = noted / "boot_id"
    for content in ("another\n", ""):
        other.write_text(content)
        monkeypatch.setattr(hash_notes, "BOOT_ID", other)
        assert found(noted, path) is None
    monkeypatch.setattr(hash_notes, "BOOT_ID", noted / "none")
    assert found(noted, path) is None
    (noted / FILE).unlink()
    notes = HashNotes(noted)
    notes.note(path, "", path.stat(), time.time_ns() + LATER, "ab")
    notes.save()
    assert not (noted / FILE).exists()


def test_what_was_changed_a_moment_before_is_not_noted(tmp_path, path):
    """It may be changed once more in the same tick of the clock."""
    for began, expected in ((SETTLED_NS, None), (SETTLED_NS + 1, "ab")):
        notes = HashNotes(tmp_path)
        notes.note(path, "", path.stat(), path.stat().st_ctime_ns + began, "ab")
        notes.save()
        assert found(tmp_path, path) == expected


def forged(text):
    notes = json.loads(text)
    (note,) = notes["files"].values()
    note[-1] = "cd"
    return json.dumps(notes)


@pytest.mark.parametrize("harm", (
    lambda text: "", lambda text: text[:-9], lambda text: "[]", lambda text: "[" * 9999, lambda text: '"x"', forged,
))  # fmt: skip
def test_damaged_notes_are_not_believed_and_mended(noted, path, harm):
    (noted / FILE).write_text(harm((noted / FILE).read_text()))
    notes = HashNotes(noted)
    assert notes.digest(path, "", path.stat()) is None
    notes.note(path, "", path.stat(), time.time_ns() + LATER, "ef")
    notes.save()
    assert found(noted, path) == "ef"


def test_two_processes_keep_each_others_notes(noted, path):
    one, other = HashNotes(noted), HashNotes(noted)
    for notes, what in ((one, "one"), (other, "other")):
        notes.note(path, what, path.stat(), time.time_ns() + LATER, what)
    one.save()
    other.save()
    assert [found(noted, path, what) for what in ("", "one", "other")] == ["ab", "one", "other"]


def test_only_the_newest_are_kept_and_no_name_is_told(noted, path, monkeypatch):
    monkeypatch.setattr(hash_notes, "MOST", 2)
    notes = HashNotes(noted)
    for what in ("one", "two"):
        notes.note(path, what, path.stat(), time.time_ns() + LATER, what)
    notes.save()
    assert [found(noted, path, what) for what in ("", "one", "two")] == [None, "one", "two"]
    assert "large" not in (noted / FILE).read_text()


def test_a_folder_that_takes_no_notes_is_no_error(noted, path):
    notes = HashNotes(noted / "gone")
    notes.note(path, "", path.stat(), time.time_ns() + LATER, "ab")
    notes.save()
    assert not (noted / "gone").exists()
