"""What tells the content of a user's files from another's."""

import hashlib
import os

from pipeline.store.identity import identity


def test_a_changed_file_in_an_image_folder_is_noticed(tmp_path):
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "data_batch_1").write_bytes(b"abc")
    (tmp_path / "batches" / ".hidden").write_bytes(b"abc")
    stat = (tmp_path / "batches" / "data_batch_1").stat()
    before = identity(tmp_path / "batches")
    assert before == {"data_batch_1": hashlib.sha256(b"abc").hexdigest()}
    (tmp_path / "batches" / "data_batch_1").write_bytes(b"abd")
    os.utime(tmp_path / "batches" / "data_batch_1", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert identity(tmp_path / "batches") != before


def test_a_very_large_file_is_known_by_its_content(tmp_path):
    """Not by its place, size and time: another file may have these too."""
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 257 * 2**20)
    before, digest = path.stat(), identity(path)
    assert len(digest) == 64
    with path.open("r+b") as file:
        file.seek(200 * 2**20)
        file.write(b"x")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert identity(path) != digest
