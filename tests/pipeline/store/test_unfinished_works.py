"""Folders of unfinished work: gone when the result is there, or nobody has gone on with them for long."""

import os
import time

import pytest

from pipeline.store.unfinished_works import remove_abandoned, remove_works, unfinished_works

KEYS = ("0" * 16, "1" * 16)


def work(root, key, inputs="abcdef01", days=0.0):
    folder = root / "fit" / f".work-{key}-{inputs}"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "step.npz").write_bytes(bytes(1500))
    when = time.time() - days * 86400
    for path in (folder / "sub" / "step.npz", folder / "sub", folder):
        os.utime(path, (when, when))
    return folder


def test_all_are_found_with_their_size(tmp_path):
    folders = [work(tmp_path, key) for key in KEYS]
    (tmp_path / "fit" / ".work-mine").mkdir()
    found = list(unfinished_works(tmp_path))
    assert [(one.folder, one.key, one.n_bytes) for one in found] == [
        (folder, key, 1500) for folder, key in zip(folders, KEYS, strict=True)
    ]


def test_a_finished_result_takes_its_works_along(tmp_path):
    folders = [work(tmp_path, KEYS[0]), work(tmp_path, KEYS[0], "12345678"), work(tmp_path, KEYS[1])]
    (tmp_path / "fit" / f".work-{KEYS[0]}-mine").mkdir()
    remove_works(tmp_path / "fit", KEYS[0])
    assert [folder.exists() for folder in folders] == [False, False, True]
    assert (tmp_path / "fit" / f".work-{KEYS[0]}-mine").exists()


def test_what_nobody_goes_on_with_is_removed_and_said(tmp_path):
    old, young, wanted = (
        work(tmp_path, KEYS[0], days=31),
        work(tmp_path, KEYS[1], days=29),
        work(tmp_path, "2" * 16, days=99),
    )
    begun_again = work(tmp_path, "3" * 16, days=99)
    (begun_again / "sub" / "new.npz").touch()
    said = []
    remove_abandoned(tmp_path, {"2" * 16}, said.append)
    assert [folder.exists() for folder in (old, young, wanted, begun_again)] == [False, True, True, True]
    assert said == [f"removed 1 unfinished work that nobody has gone on with for 30 days (1.5 kB): fit/{old.name}"]
    remove_abandoned(tmp_path, {"2" * 16}, pytest.fail)
