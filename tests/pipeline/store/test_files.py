"""Files that appear whole or not at all."""

import os
import resource
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import BadInputError
from pipeline.store.files import (
    check_place,
    durable_folder,
    file_digest,
    flush_tree,
    has_digest,
    make_folder,
    put_aside,
    remove_parts,
    save_array,
    save_arrays,
    whole_file,
)
from pipeline.text.numbers import human_bytes


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as temporary:
        temporary.write_text("half")
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".csv")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["table.csv"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.fixture
def calls(monkeypatch):
    """What is asked of the system, in order: ("fsync", name), ("replace", name)."""
    found, fsync, replace = [], os.fsync, Path.replace

    def named_fsync(handle):
        found.append(("fsync", Path(f"/proc/self/fd/{handle}").readlink().name))
        fsync(handle)

    def named_replace(path, target):
        found.append(("replace", target.name))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", named_fsync)
    monkeypatch.setattr(Path, "replace", named_replace)
    return found


def test_bytes_are_on_the_disk_before_the_name_is(tmp_path, calls):
    with whole_file(tmp_path / "table.csv") as temporary:
        temporary.write_text("new")
    assert calls == [("fsync", temporary.name), ("replace", "table.csv"), ("fsync", tmp_path.name)]
    calls.clear()
    with whole_file(tmp_path / "table.csv", durable=False) as temporary:
        temporary.write_text("newer")
    assert calls == [("replace", "table.csv")]


def test_new_folders_are_on_the_disk_with_their_names(tmp_path, calls):
    for expected in ([tmp_path.name, "a", "b"], []):
        durable_folder(tmp_path / "a" / "b" / "c")
        assert [name for _, name in calls] == expected
        calls.clear()
    assert (tmp_path / "a" / "b" / "c").is_dir()


def test_a_whole_folder_is_on_the_disk_files_first(tmp_path, calls):
    (tmp_path / "sub").mkdir()
    for name in ("a", "sub/b"):
        (tmp_path / name).write_text(name)
    flush_tree(tmp_path)
    names = [name for _, name in calls]
    assert (sorted(names[:2]), names[2:]) == (["a", "b"], ["sub", tmp_path.name])


@pytest.mark.parametrize("compress", (False, True))
def test_equal_arrays_are_equal_bytes_and_nothing_is_pickled(tmp_path, monkeypatch, compress):
    arrays = {"a": np.arange(12.0).reshape(3, 4), "b": np.array(["x", "yz"])}
    save_arrays(tmp_path / "one.npz", arrays, compress=compress)
    monkeypatch.setattr("time.localtime", lambda *_: (2031, 5, 6, 7, 8, 9, 1, 126, 0))
    save_arrays(tmp_path / "two.npz", {"a": np.asfortranarray(arrays["a"]), "b": arrays["b"]}, compress=compress)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as found:
        assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        save_arrays(tmp_path / "three.npz", {"a": np.array([{}], object)})
    assert not (tmp_path / "three.npz").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    assert make_folder(tmp_path / "a" / "b", "--out").is_dir()
    with pytest.raises(BadInputError, match=r"^--out \S+/file cannot be made a folder \(File exists\); name another"):
        make_folder(tmp_path / "file", "--out")
    with pytest.raises(BadInputError, match=r"cannot be made a folder \(Not a directory\)"):
        make_folder(tmp_path / "file" / "below", "--out")


def test_bytes_for_people():
    assert [human_bytes(n) for n in (0, 999, 1000, 12_345, 999_949, 5.04e9)] == [
        "0 B", "999 B", "1.0 kB", "12.3 kB", "999.9 kB", "5.0 GB",
    ]  # fmt: skip


def test_places_that_nothing_can_have(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "dead").symlink_to("gone")
    for path in (tmp_path / "new", tmp_path / "a" / "b", tmp_path / "file"):
        check_place(path, "OUT")
    for name, sentence in {
        "file/x": "cannot be made", "dead": "is a link to nothing", "x" * 300: "cannot be made", "a\0b": "is no name",
        "\udcff": "is no name",
    }.items():  # fmt: skip
        with pytest.raises(BadInputError, match=f"^OUT .*{sentence}"):
            check_place(tmp_path / name, "OUT")
    for name in ("file/x", "dead", "x" * 300, "a\0b"):
        with pytest.raises(BadInputError, match=r"^OUT .*(cannot be made a folder|is no name of a folder)"):
            make_folder(tmp_path / name, "OUT")


def test_what_stands_in_the_way_is_put_aside(tmp_path):
    for number in (1, 2):
        (tmp_path / "note").mkdir()
        assert put_aside(tmp_path / "note") == tmp_path / f"note.aside-{number}"


def test_only_what_was_left_half_written_is_removed(tmp_path):
    for name in (".part-0123.npy", "part-0123.npy", ".other"):
        (tmp_path / name).touch()
    (tmp_path / ".part-folder").mkdir()
    remove_parts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other", ".part-folder", "part-0123.npy"]


@pytest.mark.parametrize("n", (100, 5000))
def test_an_array_is_saved_as_numpy_does_and_a_full_disk_is_noticed(tmp_path, n):
    """Numpy itself leaves out the last bytes of the smaller one without a word."""
    array = np.arange(n, dtype=np.float32).reshape(2, -1)
    save_array(tmp_path / "ours.npy", array)
    np.save(tmp_path / "numpys.npy", array)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "numpys.npy").read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * n, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            save_array(tmp_path / "full.npy", array)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_digest_is_that_of_a_file_with_just_this_content(tmp_path):
    path = tmp_path / "a"
    assert not has_digest(path, "")
    path.write_bytes(b"content")
    digest = file_digest(path)
    assert has_digest(path, digest)
    path.write_bytes(b"contenu")
    assert not has_digest(path, digest)
    assert not has_digest(tmp_path, digest)
