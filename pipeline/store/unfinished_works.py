"""Folders of unfinished work, `<store>/<stage>/.work-<key>-<inputs>`: which there are, and which nobody wants."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.text.numbers import counted, human_bytes

WORK = re.compile(r"\.work-([0-9a-f]{16})-[0-9a-f]{8}")
ABANDONED_DAYS = 30


@dataclass(frozen=True)
class UnfinishedWork:
    """One of them, of the result with this key. touched: when something of it was last written, in seconds."""

    folder: Path
    key: str
    n_bytes: int
    touched: float


def unfinished_works(root: Path) -> Iterator[UnfinishedWork]:
    """All in a store."""
    for folder in sorted(root.glob("*/.work-*")):
        match = WORK.fullmatch(folder.name)
        if match is not None and folder.is_dir() and not folder.is_symlink():
            n_bytes, touched = _size_and_time(folder)
            yield UnfinishedWork(folder, match[1], n_bytes, touched)


def _size_and_time(folder: Path) -> tuple[int, float]:
    n_bytes, touched = 0, 0.0
    for path in (folder, *folder.rglob("*")):
        try:
            found = path.lstat()
        except OSError:  # Finished or replaced meanwhile.
            continue
        touched = max(touched, found.st_mtime)
        n_bytes += found.st_size if path.is_file() else 0
    return n_bytes, touched


def remove_works(home: Path, key: str) -> None:
    """Remove the unfinished works of a result that is there now, on whatever inputs they were begun."""
    for folder in home.glob(f".work-{key}-*"):
        if WORK.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(root: Path, keep: Collection[str], say: Callable[[str], object]) -> None:
    """Remove works that nobody has gone on with for 30 days, but for the keys in `keep`, which somebody is about to."""
    oldest = time.time() - ABANDONED_DAYS * 86400
    gone = [work for work in unfinished_works(root) if work.touched < oldest and work.key not in keep]
    for work in gone:
        shutil.rmtree(work.folder, ignore_errors=True)
    if gone:
        space = human_bytes(sum(work.n_bytes for work in gone))
        places = ", ".join(f"{work.folder.parent.name}/{work.folder.name}" for work in gone[:3])
        more = f" and {len(gone) - 3:,} more" if len(gone) > 3 else ""
        say(
            f"removed {counted(len(gone), 'unfinished work')} that nobody has gone on with for {ABANDONED_DAYS} days "
            f"({space}): {places}{more}"
        )
