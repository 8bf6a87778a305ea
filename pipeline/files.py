"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from pipeline.errors import BadInputError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, of the same ending; moved over it when the block ends well, deleted when not."""
    handle, name = mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def make_folder(path: Path, option: str) -> Path:
    """`path` as a writable folder, made if missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{option} {path} cannot be made a folder ({error.strerror}); name another one.") from error
    if not os.access(path, os.W_OK):
        raise BadInputError(f"{option} {path} is not writable; name another folder.")
    return path
