"""Steps that outlive a kill."""

import hashlib
import shutil

import numpy as np
import pytest

from pipeline.errors import WorkStoppedError
from pipeline.store.unfinished_steps import fits_checksum, has_checksum, note_checksum, read_again, read_step, save_step


def test_every_changed_or_missing_byte_of_a_batch_is_noticed(tmp_path):
    """Of the numbers, of their shapes and of the archive around them."""
    path, arrays = tmp_path / "step.npz", {"lengths": np.arange(3), "values": np.linspace(0, 1, 7)}
    save_step(path, arrays)
    content, damages = path.read_bytes(), []
    found = read_step(path, damages.append)
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    assert damages == []
    changed = [content[:k] + bytes([content[k] ^ 1]) + content[k + 1 :] for k in range(len(content))]
    for wrong in changed + [content[:k] for k in range(len(content))]:
        path.write_bytes(wrong)
        assert read_step(path, damages.append) is None
    assert set(damages) == {f"{path} is damaged (its checksum is another one)"}
    assert len(damages) == 2 * len(content)


@pytest.mark.parametrize("place", (
    ".work-0123-4567/pairs-2.npz", ".work-0123-89ab/pairs-1.npz", ".work-cdef-4567/pairs-1.npz",
    ".work-0123-4567/rows/pairs-1.npz", ".parts/pairs-1.npz",
))  # fmt: skip
def test_a_step_of_another_name_or_work_is_not_taken_for_this_one(tmp_path, place):
    """Whole, but copied."""
    path, copy, damages = tmp_path / ".work-0123-4567" / "pairs-1.npz", tmp_path / "other" / place, []
    save_step(path, {"pvalue": np.ones(3)})
    copy.parent.mkdir(parents=True)
    shutil.copy(path, copy)
    assert read_step(copy, damages.append) is None
    assert damages == [f"{copy} is damaged (its checksum is another one)"]


def test_a_step_in_a_folder_of_another_work_is_not_taken_for_this_one(tmp_path):
    works = [tmp_path / f".work-{key}-4567" for key in ("0123", "cdef")]
    save_step(works[0] / "rows" / "pairs-1.npz", {"pvalue": np.ones(3)})
    shutil.copytree(*works)
    assert read_step(works[0] / "rows" / "pairs-1.npz", pytest.fail) is not None
    assert read_step(works[1] / "rows" / "pairs-1.npz", lambda damage: None) is None


def test_a_store_that_has_gone_is_not_begun_anew(tmp_path):
    """As where its disk is no longer mounted: what is written would lie below it."""
    with pytest.raises(FileNotFoundError):
        save_step(tmp_path / "data" / "fit" / ".work-0123-4567" / "step.npz", {"a": np.ones(3)})
    assert not list(tmp_path.iterdir())


def test_a_store_may_be_moved(tmp_path):
    (tmp_path / "one").mkdir()
    for name in (".work-0123-4567/rows/pairs-1.npz", ".parts/000000000.npz"):
        save_step(tmp_path / "one" / name, {"pvalue": np.ones(3)})
        shutil.copytree(tmp_path / "one", tmp_path / "other", dirs_exist_ok=True)
        assert read_step(tmp_path / "other" / name, pytest.fail) is not None


def test_steps_of_earlier_versions_are_read_where_they_say_what_they_are(tmp_path):
    path = tmp_path / ".parts" / "0.npz"
    save_step(path, {"margins": np.ones(3)})
    content = path.read_bytes()[:-32]
    path.write_bytes(content + hashlib.sha256(content).digest())
    assert read_step(path, lambda damage: None) is None
    assert read_step(path, pytest.fail, unbound=True)["margins"].tolist() == [1, 1, 1]
    path.write_bytes(content[:-1] + b"x" + hashlib.sha256(content).digest())
    assert read_step(path, lambda damage: None, unbound=True) is None


def test_a_file_of_another_kind_has_a_checksum_beside_it(tmp_path):
    path = tmp_path / ".work-0123-4567" / "tile-0.npy"
    path.parent.mkdir()
    path.write_bytes(b"numbers")
    assert not has_checksum(path) and not fits_checksum(path)
    note_checksum(path, "a job")
    assert has_checksum(path) and fits_checksum(path, "a job")
    assert not fits_checksum(path, "another")
    for suffix in (".npy", ".sha256"):
        shutil.copy(path.with_suffix(suffix), path.with_name(f"tile-1{suffix}"))
    assert not fits_checksum(path.with_name("tile-1.npy"), "a job")
    path.write_bytes(b"numbert")
    assert not fits_checksum(path, "a job")
    path.unlink()
    assert not fits_checksum(path, "a job")
    note_checksum(path, content=path.with_name("tile-1.npy"))
    shutil.copy(path.with_name("tile-1.npy"), path)
    assert fits_checksum(path)


def test_a_step_that_is_damaged_meanwhile_stops_the_command(tmp_path):
    path = tmp_path / "step.npz"
    save_step(path, {"a": np.ones(3)})
    assert read_again(path)["a"].tolist() == [1, 1, 1]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(WorkStoppedError, match=r"its checksum is another one\), though it was whole .*; run it again"):
        read_again(path)
    path.unlink()
    with pytest.raises(WorkStoppedError, match="is missing, though it was whole"):
        read_again(path)


def test_a_folder_in_the_place_of_a_step_or_its_note_blocks_nothing(tmp_path):
    for name in ("step.npz", "tile.sha256"):
        (tmp_path / name).mkdir()
    (tmp_path / "tile.npy").write_bytes(b"numbers")
    assert read_step(tmp_path / "step.npz", pytest.fail) is None
    save_step(tmp_path / "step.npz", {"a": np.ones(3)})
    assert read_step(tmp_path / "step.npz", pytest.fail) is not None
    note_checksum(tmp_path / "tile.npy")
    assert fits_checksum(tmp_path / "tile.npy")
