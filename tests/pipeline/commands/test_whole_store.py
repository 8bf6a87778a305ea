"""`status --verify`: every file is read, whatever was noted, and what is damaged is named."""

import json
import os
import re
import shutil

import numpy as np
import pytest
from command_here import call, ok
from real_command import SMALL
from released_fixtures import bucket, no_long_pauses, source

from pipeline.store.unfinished_steps import note_checksum, read_step, save_step

__all__ = ["bucket", "no_long_pauses", "source"]


def flip(path, place=-1):
    """One bit, and the time stamp stays."""
    before, content = path.stat(), bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def damaged(folder, *arguments):
    done = call(folder, "status", "--verify", *arguments)
    assert done.returncode == 1
    assert re.search(r"\d+ of \d+ files? (is|are) not as written", done.stderr)
    return done.stdout.splitlines()


def test_a_whole_store_is_said_to_be_so(small_run):
    (line,) = ok(small_run, "status", "--verify", *SMALL).splitlines()
    assert re.fullmatch(r"\d+ files, [\d.]+ [kM]B: all as they were written", line)
    assert "0 files, 0 B: all" in ok(small_run, "status", "--verify", "--store", "elsewhere")
    assert not (small_run / "elsewhere").exists()


def test_what_a_run_beside_it_finishes_meanwhile_is_no_damage(tmp_path, monkeypatch):
    work = tmp_path / "data" / "fit" / f".work-{'0' * 16}-{'1' * 8}"
    work.parent.mkdir(parents=True)
    save_step(work / "00000.npz", {"a": np.zeros(3)})
    save_step(work / "00001.npz", {"a": np.zeros(3)})

    def read_as_the_run_ends(path, complain):
        shutil.rmtree(work, ignore_errors=True)
        return read_step(path, complain)

    monkeypatch.setattr("pipeline.commands.whole_store.read_step", read_as_the_run_ends)
    assert "all as they were written" in ok(tmp_path, "status", "--verify")


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for words in (("status",), ("status", "--verify")):
        done = call(tmp_path, *words, "--store", "notes.txt")
        assert (done.returncode, done.stderr) == (
            2,
            "datamodels-inf: --store notes.txt is no folder; name the store.\n",
        )


@pytest.mark.parametrize("record", ("[" * 100_000, "9" * 5000, "[]", "{"))
def test_whatever_the_record_of_the_images_holds_is_damage(tmp_path, record):
    (tmp_path / "data" / "images").mkdir(parents=True)
    (tmp_path / "data" / "images" / "cifar10.npz").write_bytes(b"x")
    (tmp_path / "data" / "images" / "cifar10.json").write_text(record)
    assert damaged(tmp_path) == ["data/images/cifar10.json: is damaged"]


def test_all_that_is_damaged_is_named_also_of_other_configurations_and_reports(small_run):
    fit = next((small_run / "data" / "fit").glob("*/datamodel.npz"))
    other = fit.parent.with_name("0" * 16)
    shutil.copytree(fit.parent, other)  # Another key's result.
    flip(fit)
    page = small_run / "reports" / "digits" / "index.html"
    flip(page)
    tests = next((small_run / "data" / "test").glob("*/manifest.json"))
    tests.unlink()
    lines = damaged(small_run, *SMALL)
    assert lines == sorted([
        f"{os.path.relpath(fit, small_run)}: is damaged: its checksum has changed",
        f"{os.path.relpath(other, small_run)}/manifest.json: is damaged",
        f"{os.path.relpath(page, small_run)}: is damaged: its checksum has changed",
        f"{os.path.relpath(tests, small_run)}: is missing",
    ])  # fmt: skip


def test_unfinished_work_and_images_are_read_too(tmp_path):
    work = tmp_path / "data" / "fit" / f".work-{'0' * 16}-{'1' * 8}"
    work.mkdir(parents=True)
    save_step(work / "step.npz", {"a": np.arange(3)})
    np.save(work / "tile.npy", np.arange(3))
    note_checksum(work / "tile.npy")
    copy = work / f"{'a' * 16}-features.npz"
    copy.write_bytes(b"not of this name")
    images = tmp_path / "data" / "images"
    images.mkdir()
    (images / "cifar10.npz").write_bytes(b"images")
    (images / "cifar10.json").write_text(json.dumps({"file_sha256": "ab"}))
    assert [line.partition(":")[0].rpartition("/")[2] for line in damaged(tmp_path)] == [copy.name, "cifar10.npz"]
    copy.unlink()
    shutil.rmtree(images)
    assert ok(tmp_path, "status", "--verify").startswith("2 files, ")
    for name in ("step.npz", "tile.npy"):
        flip(work / name)
    assert len(damaged(tmp_path)) == 2
    assert "and 1 unfinished work (" in ok(tmp_path, "status")


@pytest.mark.parametrize("harm", ("row", "header", "object.json", "rows.jsonl"))
def test_all_complete_rows_of_mirrors_are_read(bucket, tmp_path, harm):
    ok(tmp_path, "download", *bucket.arguments("source.held_out_rows=400"))
    assert "all as they were written" in ok(tmp_path, "status", "--verify")
    shutil.rmtree(tmp_path / "data" / "download")  # Only the mirror itself knows of its rows now.
    path = next((tmp_path / "data" / "objects").glob("*/array.npy"))
    if harm in ("row", "header"):
        flip(path, -1 if harm == "row" else 61)
    else:
        flip(path.with_name(harm), 5)
    (line,) = damaged(tmp_path)
    assert str((path if harm in ("row", "header") else path.with_name(harm)).relative_to(tmp_path)) in line
