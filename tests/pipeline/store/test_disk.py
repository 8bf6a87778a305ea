"""What a disk refuses is one sentence: of which folder, and what to do."""

import errno
import os
from pathlib import Path

import pytest

from pipeline.errors import WorkStoppedError
from pipeline.store.disk import disk_sentence, telling_of_the_disk


def error(number, *more):
    return OSError(number, os.strerror(number), *more)


def said(tmp_path, problem, **options):
    with pytest.raises(WorkStoppedError) as stopped, telling_of_the_disk(tmp_path, "--store", **options):
        raise problem
    return str(stopped.value).replace(str(tmp_path), "HOME")


@pytest.mark.parametrize("number", (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
def test_a_full_disk(tmp_path, number):
    words = os.strerror(number)
    assert said(tmp_path, error(number)) == (
        f"the disk of HOME is full ({words}); free some space, or give --store a folder on a larger disk, and run "
        "again: what is complete is kept."
    )
    assert f"({words}): 2.0 kB are needed; free" in said(tmp_path, error(number), needed=lambda: 2000)


def test_numpy_and_pyarrow_have_words_of_their_own(tmp_path):
    assert "is full (1000 requested and 48 written)" in said(tmp_path, OSError("1000 requested and 48 written"))
    assert "is full (" in said(tmp_path, OSError(f"Error writing bytes. Detail: {os.strerror(errno.ENOSPC)}"))
    with pytest.raises(OSError, match="no such thing"), telling_of_the_disk(tmp_path):
        raise OSError("no such thing")


def test_a_disk_that_cannot_be_written_or_does_not_answer(tmp_path):
    assert said(tmp_path, error(errno.EROFS)).startswith("HOME cannot be written (Read-only file system); make its")
    for number in (errno.EIO, errno.ESTALE, errno.ENOTCONN):
        assert said(tmp_path, error(number)).startswith(f"the disk of HOME does not answer ({os.strerror(number)})")


def test_a_folder_that_has_gone(tmp_path):
    missing = error(errno.ENOENT, str(tmp_path / "a.npy"))
    assert "has gone while it was in use" in said(tmp_path, missing, there=tmp_path / "gone")
    for options in ({}, {"there": tmp_path}):
        with pytest.raises(FileNotFoundError), telling_of_the_disk(tmp_path, "--store", **options):
            raise missing


def test_the_folder_of_a_file_on_another_disk_is_named(tmp_path):
    if Path("/dev/shm").stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is only one disk")
    assert "the disk of /dev/shm is full" in said(tmp_path, error(errno.ENOSPC, "/dev/shm/x"))
    assert "the disk of HOME is full" in said(tmp_path, error(errno.ENOSPC, str(tmp_path / "sub" / "x")))


def test_without_a_folder(tmp_path):
    assert disk_sentence(error(errno.ENOSPC)).startswith("the disk of what is written is full")
    assert disk_sentence(error(errno.ENOSPC, "here/x.csv")) == (
        "the disk of here is full (No space left on device); free some space, and run again: what is complete is kept."
    )
    assert disk_sentence(error(errno.EACCES, "x")) == ""
