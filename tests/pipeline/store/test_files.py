"""Files as the store knows them."""

import os


def test_a_changed_file_in_an_image_folder_is_noticed(tmp_path):
    from pipeline.store.files import identity

    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "data_batch_1").write_bytes(b"abc")
    stat = (tmp_path / "batches" / "data_batch_1").stat()
    before = identity(tmp_path / "batches")
    (tmp_path / "batches" / "data_batch_1").write_bytes(b"abd")
    os.utime(tmp_path / "batches" / "data_batch_1", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert identity(tmp_path / "batches") != before
