"""The store: keys, damage, atomic folders, reasons, and two processes at once."""

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.errors import WorkStoppedError
from pipeline.store.cache import Result, Spec, Store

SPEC = Spec("fit", 1, {"fit.n": 3, "fit.mode": "lasso"}, {"download": "abc"})


def write(folder):
    (folder / "sub").mkdir()
    (folder / "a.txt").write_text("hello")
    (folder / "sub" / "b.bin").write_bytes(bytes(1000))
    return {"size": 1005}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_make_then_find(store):
    made = store.make(SPEC, {}, write)
    found, reason = store.look_up(SPEC, {})
    assert (found, reason) == (made, "")
    assert found.summary == {"size": 1005}
    assert found.n_bytes == 1005
    manifest = json.loads((found.folder / "manifest.json").read_text())
    assert manifest["settings"] == SPEC.settings
    assert manifest["inputs"] == SPEC.inputs
    assert set(manifest["files"]) == {"a.txt", "sub/b.bin"}
    assert {"python", "numpy", "datamodels-inf"} <= manifest["versions"].keys()


@pytest.mark.parametrize("other", [
    Spec("test", 1, SPEC.settings, SPEC.inputs),
    Spec("fit", 2, SPEC.settings, SPEC.inputs),
    Spec("fit", 1, {**SPEC.settings, "fit.n": 4}, SPEC.inputs),
    Spec("fit", 1, {**SPEC.settings, "fit.new": None}, SPEC.inputs),
    Spec("fit", 1, SPEC.settings, {"download": "abd"}),
])  # fmt: skip
def test_the_key_depends_on_everything(other):
    assert other.key != SPEC.key
    assert Spec("fit", 1, dict(reversed(SPEC.settings.items())), SPEC.inputs).key == SPEC.key


@pytest.mark.parametrize(("harm", "words"), [
    (lambda f: (f / "a.txt").write_text("hellO"), "a.txt is damaged: its checksum has changed"),
    (lambda f: (f / "a.txt").write_text("hell"), "a.txt is damaged: 4 bytes where 5 were written"),
    (lambda f: (f / "sub" / "b.bin").unlink(), "b.bin is missing"),
    (lambda f: (f / "manifest.json").write_text("{"), "manifest.json is damaged"),
    (lambda f: (f / "manifest.json").write_text("{}"), "manifest.json is damaged"),
    (lambda f: (f / "manifest.json").write_text("[]"), "manifest.json is damaged"),
    (lambda f: edit(f / "manifest.json", '"size": 1005', '"size": 1006'), "manifest.json is damaged"),
])  # fmt: skip
def test_damage_is_noticed_named_and_mended(store, harm, words):
    harm(store.make(SPEC, {}, write).folder)
    found, reason = store.look_up(SPEC, {})
    assert found is None
    assert words in reason
    assert store.make(SPEC, {}, write).summary == {"size": 1005}
    assert store.look_up(SPEC, {})[0] is not None


def test_a_kept_time_stamp_hides_no_changed_byte_of_a_large_file(store, monkeypatch):
    """Though it has been hashed before, in this boot."""
    monkeypatch.setattr("pipeline.store.hash_notes.SETTLED_NS", -(10**12))

    def write_much(folder):
        (folder / "large.npy").write_bytes(bytes(3 * 2**20))
        return {}

    path = store.make(SPEC, {}, write_much).folder / "large.npy"
    for _ in range(2):
        assert Store(store.root).look_up(SPEC, {})[0] is not None
    assert (store.root / ".hashed.json").is_file()
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(2**20)
        file.write(b"x")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Store(store.root).look_up(SPEC, {}) == (None, f"{path} is damaged: its checksum has changed")


def test_a_result_has_its_name_when_all_of_it_is_on_the_disk(store, monkeypatch):
    calls, fsync, rename = [], os.fsync, Path.rename

    def named_fsync(handle):
        calls.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        fsync(handle)

    def named_rename(path, target):
        calls.append("renamed")
        return rename(path, target)

    (store.root / "fit").mkdir(parents=True)
    monkeypatch.setattr(os, "fsync", named_fsync)
    monkeypatch.setattr(Path, "rename", named_rename)
    store.make(SPEC, {}, write)
    before, after = calls[: calls.index("renamed")], calls[calls.index("renamed") + 1 :]
    assert {"a.txt", "b.bin", "sub", "manifest.json", f".tmp-{SPEC.key}-{os.getpid()}"} == set(before)
    assert after == ["fit"]


def test_a_finished_result_leaves_no_unfinished_work(store):
    other = Spec("fit", 1, {"fit.n": 4})
    folders = [store.unfinished(spec, {}, fresh=False) for spec in (SPEC, other)]
    folders.append(folders[0].with_name(f".work-{SPEC.key}-{'0' * 8}"))  # On inputs of other content.
    for folder in folders:
        folder.mkdir(parents=True)
    store.make(SPEC, {}, write)
    assert [folder.exists() for folder in folders] == [False, True, False]


def test_a_disk_without_room_is_a_sentence_and_leaves_nothing(store):
    def fail(folder):
        write(folder)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(WorkStoppedError, match=r"the disk of \S+/store is full \(No space left .*or give --store"):
        store.make(SPEC, {}, fail)
    assert list((store.root / "fit").iterdir()) == []

    def vanish(folder):
        shutil.rmtree(store.root)
        write(folder)

    with pytest.raises(WorkStoppedError, match=r"/store has gone while it was in use"):
        store.make(SPEC, {}, vanish)


def test_a_file_in_the_place_of_a_result_blocks_nothing(store):
    (store.root / "fit").mkdir(parents=True)
    store.folder(SPEC).write_text("precious")
    assert store.look_up(SPEC, {})[0] is None
    store.make(SPEC, {}, write)
    assert store.look_up(SPEC, {})[0] is not None
    assert store.folder(SPEC).with_name(f"{SPEC.key}.aside-1").read_text() == "precious"
    (store.root / ".lock-holder").mkdir()
    with store.locked(pytest.fail):
        pass


def test_a_link_in_the_place_of_a_result_is_made_again_and_what_it_leads_to_stays(store, tmp_path):
    """A result that was moved to a larger disk, and then damaged."""
    store.make(SPEC, {}, write)
    store.folder(SPEC).rename(tmp_path / "elsewhere")
    store.folder(SPEC).symlink_to(tmp_path / "elsewhere")
    assert store.look_up(SPEC, {})[0] is not None
    (tmp_path / "elsewhere" / "a.txt").write_text("hallo")
    assert store.look_up(SPEC, {})[0] is None
    store.make(SPEC, {}, write)
    assert store.look_up(SPEC, {})[0] is not None
    assert not store.folder(SPEC).is_symlink()
    assert (tmp_path / "elsewhere" / "a.txt").read_text() == "hallo"


def test_nothing_is_written_through_the_note_of_who_holds_the_store(store, tmp_path):
    (tmp_path / "precious").write_text("mine")
    store.root.mkdir()
    (store.root / ".lock-holder").symlink_to(tmp_path / "precious")
    with store.locked(pytest.fail):
        assert (store.root / ".lock-holder").read_text().startswith("process ")
    assert (tmp_path / "precious").read_text() == "mine"


def test_reasons_are_not_taken_from_results_in_folders_of_others(store):
    store.make(SPEC, {}, write)
    store.folder(SPEC).rename(store.folder(SPEC).with_name("0" * 16))
    assert store.look_up(Spec("fit", 1, {**SPEC.settings, "fit.n": 5}, SPEC.inputs), {})[1] == "not run before"


def test_the_result_of_another_key_in_its_folder_is_not_taken(store):
    """Its files are whole and its manifest is intact: they are only not what the folder's name says."""
    other = Spec("fit", 1, {**SPEC.settings, "fit.n": 4}, SPEC.inputs)
    store.make(other, {}, write)
    store.folder(other).rename(store.folder(SPEC))
    assert store.look_up(SPEC, {}) == (None, f"{store.folder(SPEC)} holds the result of fit {other.key}")
    assert store.make(SPEC, {}, write).manifest["key"] == SPEC.key


def test_reasons_name_what_changed(store):
    assert store.look_up(SPEC, {})[1] == "not run before"
    store.make(SPEC, {}, write)
    store.make(Spec("fit", 1, {"fit.n": 9, "fit.mode": "load"}, {"download": "xyz"}), {}, write)
    assert store.look_up(Spec("fit", 1, {**SPEC.settings, "fit.n": 5}, SPEC.inputs), {})[1] == "fit.n: 3 → 5"
    assert store.look_up(Spec("fit", 2, SPEC.settings, SPEC.inputs), {})[1] == "code version: 1 → 2"
    assert store.look_up(Spec("fit", 1, SPEC.settings, {"download": "new"}), {})[1] == "download changed"


def test_an_input_made_again_with_other_content_is_noticed(store):
    upstream, downstream = Spec("download", 1, {}), Spec("fit", 1, {}, {"download": "abc"})

    def other(folder):
        (folder / "a.txt").write_text("not hello")
        return {}

    inputs = {"download": store.make(upstream, {}, write)}
    store.make(downstream, inputs, write)
    assert store.look_up(downstream, inputs)[0] is not None
    again = {"download": store.make(upstream, {}, write)}
    assert store.look_up(downstream, again)[0] is not None
    changed = {"download": store.make(upstream, {}, other)}
    assert store.look_up(downstream, changed) == (None, "download was made again and is not what it was")


def test_what_a_stage_does_not_read_may_come_later(store):
    upstream, downstream = Spec("download", 1, {}), Spec("fit", 1, {}, {"download": "abc"})

    def more(folder):
        (folder / "pictures").write_text("dogs")
        return write(folder)

    def other(folder):
        made = more(folder)
        (folder / "a.txt").write_text("not hello")
        return made

    store.make(downstream, {"download": store.make(upstream, {}, write)}, write)
    with_pictures = {"download": store.make(upstream, {}, more)}
    assert store.look_up(downstream, with_pictures)[0] is None
    assert store.look_up(downstream, with_pictures, ("pictures",))[0] is not None
    changed = {"download": store.make(upstream, {}, other)}
    assert store.look_up(downstream, changed, ("pictures",))[0] is None


def test_long_reasons_are_cut(store):
    store.make(SPEC, {}, write)
    reason = store.look_up(Spec("fit", 1, {f"fit.{n}": n for n in range(9)}, {"download": "abc"}), {})[1]
    assert reason.endswith("and 7 more changes")
    assert reason.count(" → ") == 4


def test_a_failure_leaves_nothing(store):
    def fail(folder):
        write(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.make(SPEC, {}, fail)
    assert list((store.root / "fit").iterdir()) == []
    assert store.look_up(SPEC, {})[1] == "not run before"


def test_what_a_killed_process_left_is_removed(store):
    leftover, foreign = store.root / "fit" / ".tmp-0123456789abcdef-99999", store.root / "mine" / ".tmp-precious"
    for folder in (leftover, foreign):
        folder.mkdir(parents=True)
        (folder / "half.npy").write_text("x")
    parts = [store.root / ".part-1.json", store.root / "objects" / "0123" / ".part-2.jsonl"]
    for path in parts:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with store.locked(lambda line: None):
        assert not leftover.exists()
        assert foreign.exists()
        assert not any(path.exists() for path in parts)


def test_abandoned_work_is_removed_when_somebody_begins(store):
    old = store.unfinished(SPEC, {}, fresh=False)
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    with store.locked(pytest.fail, {SPEC.key}):
        assert old.exists()
    said = []
    with store.locked(said.append):
        assert not old.exists()
    assert len(said) == 1


def test_the_second_process_waits_and_says_for_whom(store):
    code = (
        "import sys, time; from pathlib import Path; from pipeline.store.cache import Store\n"
        "with Store(Path(sys.argv[1])).locked(print):\n    print('mine', flush=True); time.sleep(3)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, store.root], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "mine\n"
    said, start = [], time.monotonic()
    with store.locked(said.append):
        assert time.monotonic() - start > 0.5
    assert said[0].startswith(f"waiting for process {other.pid} ")
    other.communicate(timeout=30)
    assert not (store.root / ".lock-holder").exists()


def test_a_killed_holder_does_not_block(store):
    code = (
        "import os, sys; from pathlib import Path; from pipeline.store.cache import Store\n"
        "with Store(Path(sys.argv[1])).locked(print):\n    os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, store.root], check=False)
    with store.locked(lambda line: pytest.fail(line)):
        assert str(os.getpid()) in (store.root / ".lock-holder").read_text()


def test_unfinished_work_belongs_to_its_recipe_and_to_the_content_of_its_inputs(store):
    """Work begun on an input of other content, though of the same key, must not be gone on with."""
    source = Spec("download", 1, {})
    first = {"download": store.make(source, {}, write)}
    unfinished = store.unfinished(SPEC, first, fresh=False)
    unfinished.mkdir(parents=True)
    assert store.unfinished(SPEC, first, fresh=False) == unfinished

    def write_otherwise(folder):
        (folder / "a.txt").write_text("other")
        return {}

    other = {"download": store.make(source, {}, write_otherwise)}
    assert other["download"].folder == first["download"].folder
    assert store.unfinished(SPEC, other, fresh=False) != unfinished
    assert store.unfinished(Spec("fit", 1, {"fit.n": 4}, SPEC.inputs), first, fresh=False) != unfinished
    assert unfinished.exists()
    assert store.unfinished(SPEC, first, fresh=True) == unfinished
    assert not unfinished.exists()


def test_what_lies_outside_is_counted_by_its_folder(store):
    runs = {"../../objects/ab/array.npy": [[128, 30, "x"], [158, 12, "y"]], "../../objects/cd/file": [[0, 5, "z"]]}
    result = Result(
        store.root / "toy" / "0123", {"summary": {"outside": {**runs, "../../images/a.npz": [[0, 7, "w"]]}}}
    )
    assert result.n_bytes_outside == {"objects": 47, "images": 7}
    assert Result(result.folder, {"summary": {}}).n_bytes_outside == {}
