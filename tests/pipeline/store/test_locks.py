"""Whoever waits for a lock says so once, and whoever has it lets it go, whatever happens inside."""

import threading

import pytest
from filelock import FileLock

from pipeline.errors import BadInputError
from pipeline.store.locks import held


def test_a_free_lock_is_taken_without_a_word(tmp_path):
    lock, said = FileLock(tmp_path / "lock"), []
    with held(lock, lambda: said.append("waiting")):
        assert lock.is_locked
    assert not lock.is_locked
    assert said == []


def test_a_taken_one_is_waited_for_and_said(tmp_path):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    waiting, inside = threading.Event(), threading.Event()

    def wait():
        with held(second, waiting.set):
            inside.set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(30) and not inside.is_set()
    first.release()
    thread.join(30)
    assert inside.is_set() and not second.is_locked


def test_it_is_let_go_where_the_work_fails(tmp_path):
    lock = FileLock(tmp_path / "lock")
    with pytest.raises(KeyboardInterrupt), held(lock, lambda: None):
        raise KeyboardInterrupt
    assert not lock.is_locked


@pytest.mark.parametrize("kind", ("link", "folder"))
def test_what_is_no_lock_is_named_and_stays_as_it_is(tmp_path, kind):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    if kind == "link":
        (tmp_path / "lock").symlink_to(precious)
    else:
        (tmp_path / "lock").mkdir()
    with pytest.raises(BadInputError, match=f"lock is a {kind} where a lock of datamodels-inf belongs; move it"):
        held(FileLock(tmp_path / "lock"), pytest.fail).__enter__()
    assert precious.read_text() == "mine"
