"""Locks that say whom they wait for: a command that stands still without a word looks broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, Timeout

from pipeline.errors import BadInputError


@contextmanager
def held(lock: BaseFileLock, waiting: Callable[[], object]) -> Iterator[None]:
    """`lock`, held inside; `waiting` is called where another process has it, and then this one waits."""
    refuse_what_is_no_lock(Path(lock.lock_file))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def refuse_what_is_no_lock(path: Path) -> None:
    """Where a link or a folder stands for the file of a lock, say so: it could be no one's, or anybody's."""
    if path.is_symlink() or path.is_dir():
        kind = "link" if path.is_symlink() else "folder"
        raise BadInputError(f"{path} is a {kind} where a lock of datamodels-inf belongs; move it.")
