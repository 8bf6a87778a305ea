"""Getting CIFAR-10: every way ends in the same verified file, and every failure in one sentence and the next way.

Programs and failures are real: executables on PATH, processes that are killed.
"""

import io
import pickle
import subprocess
import sys
import tarfile
from dataclasses import replace

import numpy as np
from faulty_mirror import Server, answer
from small_cifar10 import Marker, Said, md5, refusal, tar_gz

from pipeline.images.find import PART, get_images, images_checksum
from pipeline.images.image_set import ImageSet


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


def test_the_next_mirror_is_tried(get, small):
    with Server(small.archive, answer(404)) as bad, Server(small.archive) as good:
        said = get(bad.url, good.url)
    assert said[:2] == [
        f"getting CIFAR-10 from {bad.url} …",
        f"{bad.url}: it answers 404 Not Found; getting CIFAR-10 from {good.url} …",
    ]
    assert (bad.log, good.log) == ([0], [0])


def test_nothing_allowed_is_nothing_tried(get):
    assert "no mirror was named" in refusal(get)
