"""What tells the content of a user's files from another's, for the key of a stage that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.store.hashing import current


def identity(path: Path) -> Any:
    """The sha256 of a file; of a folder, those of all its files by name. JSON.

    Of any size: a file of gigabytes is read once in a boot (`hash_notes`). Files over 256 MB were once known by place,
    size and time, which a changed file can have too; what was made of them then has another key now.
    """
    if not path.is_dir():
        return current().digests([path])[0]
    files = [p for p in sorted(path.rglob("*")) if p.is_file() and not p.name.startswith(".")]
    names = [p.relative_to(path).as_posix() for p in files]
    return dict(zip(names, current().digests(files), strict=True))
