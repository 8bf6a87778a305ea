"""Checksums by several threads, of what nobody has read in this boot."""

import hashlib
import os

import pytest

from pipeline.store import hash_notes, hashing
from pipeline.store.hashing import Hashing, current, part_digest

SIZE = 3 * hashing.BLOCK + 5


def sha(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two that are large and one that is small, none of them changed a moment ago."""
    monkeypatch.setattr(hash_notes, "SETTLED_NS", -(10**12))
    contents = {"a": os.urandom(SIZE), "b": os.urandom(SIZE), "small": b"hello"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return {tmp_path / name: content for name, content in contents.items()}


@pytest.fixture
def read(monkeypatch):
    """The names of the files that were read."""
    names = []

    def counted(path, *arguments):
        names.append(path.name)
        return part_digest(path, *arguments)

    monkeypatch.setattr(hashing, "part_digest", counted)
    return names


@pytest.mark.parametrize("threads", (1, 3))
def test_each_large_file_is_read_once_and_small_ones_always(files, read, tmp_path, threads):
    expected = [sha(content) for content in files.values()]
    assert Hashing(tmp_path, threads=threads).digests(list(files)) == expected
    assert sorted(read) == ["a", "b", "small"]
    assert Hashing(tmp_path, threads=threads).digests(list(files)) == expected
    assert sorted(read) == ["a", "b", "small", "small"]
    assert Hashing(threads=threads).digests(list(files)) == expected  # Without notes.
    assert len(read) == 7


def test_a_change_behind_a_kept_time_stamp_is_a_problem(files, tmp_path):
    expected = {path: sha(content) for path, content in files.items()}
    assert Hashing(tmp_path).problems(expected) == {}
    path = next(iter(files))
    before = path.stat()
    with path.open("r+b") as file:
        file.write(bytes([files[path][0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Hashing(tmp_path).problems(expected) == {path: "its checksum has changed"}


def test_what_changes_while_it_is_read_is_not_noted(files, read, tmp_path, monkeypatch):
    path = next(iter(files))

    def changed(path, *arguments):
        digest = part_digest(path, *arguments)
        path.write_bytes(b"y" * SIZE)
        return digest

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(hashing, "part_digest", changed)
        assert Hashing(tmp_path).digests([path]) == [sha(files[path])]
    assert Hashing(tmp_path).digests([path]) == [sha(b"y" * SIZE)]


def test_a_file_that_cannot_be_read_is_named_or_an_error(files, tmp_path, monkeypatch):
    path = next(iter(files))

    def broken(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(hashing, "part_digest", broken)
    assert Hashing(tmp_path).problems({path: "ab"}) == {path: "it cannot be read (Input/output error)"}
    with pytest.raises(OSError, match="Input/output"):
        Hashing(tmp_path).digests([path])


def test_parts_are_right_or_not_and_noted_together(files, read, tmp_path):
    path, content = next(iter(files.items()))
    parts = [[0, 7, sha(content[:7])], [100, SIZE - 100, sha(content[100:])]]
    assert Hashing(tmp_path).damaged(path, parts) == []
    assert Hashing(tmp_path).damaged(path, parts) == []
    assert read == ["a", "a"]
    assert Hashing(tmp_path).damaged(path, [parts[0], [100, SIZE, "0" * 64]]) == [1]
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(150)
        file.write(bytes([content[150] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Hashing(tmp_path).damaged(path, parts) == [1]
    assert Hashing(tmp_path).damaged(path, parts) == [1]  # What is wrong is not noted.


def test_a_part_that_ends_early_has_another_checksum(files):
    path, content = next(iter(files.items()))
    assert part_digest(path, 3, None, lambda step: None) == sha(content[3:])
    assert part_digest(path, SIZE - 2, 9, lambda step: None) == sha(content[-2:])
    steps = []
    part_digest(path, 0, hashing.BLOCK + 1, steps.append)
    assert steps == [hashing.BLOCK, 1]


def test_whoever_asks_gets_the_one_in_use(tmp_path):
    one = Hashing(tmp_path)
    assert current() is not one
    with one.used():
        assert current() is one
    assert current() is not one
