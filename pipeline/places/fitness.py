"""Whether a worker may make units: it sees the same files, and would make the same bytes of them."""

from __future__ import annotations

import hashlib
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import datamodels_inf
import pipeline
from pipeline.errors import BadInputError

PACKAGES = ("datamodels-inf", "numpy", "scipy", "scikit-learn", "torch", "numba")
"""What results may depend on."""
OWN = "the code of datamodels-inf"
NOTE = ".cluster-"
"""Beginning of the name of a file by which workers recognise the folder of a command."""


@cache
def versions() -> dict[str, str]:
    """Of Python, of the packages that results may depend on, and of our own code by a checksum of its files."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}, OWN: _own_code()}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _own_code() -> str:
    """Of all Python files of both packages: two checkouts of one version may differ."""
    whole = hashlib.sha256()
    for package in (datamodels_inf, pipeline):
        root = Path(package.__file__ or "").parent
        for path in sorted(root.rglob("*.py")):
            whole.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()[:12]


@dataclass(frozen=True)
class Expected:
    """What a worker must see: the note in the folder that work is read from, and versions like those of the client."""

    note: Path
    token: str
    versions: tuple[tuple[str, str], ...]

    def problem(self) -> str:
        """Why the process that asks is not fit, in a few words; empty if it is."""
        try:
            found = self.note.read_text(encoding="ascii")
        except (OSError, ValueError):
            found = ""
        if found != self.token:
            return f"it does not see the folder {self.note.parent} of this command"
        own = versions()
        others = [f"{name} {own.get(name)} where the client has {value}" for name, value in self.versions
                  if own.get(name) != value]  # fmt: skip
        return f"it has {', '.join(others)}" if others else ""


@contextmanager
def noted(folder: Path) -> Iterator[Expected]:
    """A note in `folder` while it lasts. Notes of commands that were killed are removed: a folder has one at a time."""
    remove_notes(folder)
    token = secrets.token_hex(8)
    note = folder / f"{NOTE}{token}"
    note.write_text(token, encoding="ascii")
    try:
        yield Expected(note, token, tuple(versions().items()))
    finally:
        note.unlink(missing_ok=True)


def remove_notes(folder: Path) -> None:
    """Those of commands that were killed; whoever calls it is the only one at work there."""
    for old in folder.glob(f"{NOTE}*"):
        old.unlink(missing_ok=True)


class UnfitWorkerError(BadInputError):
    """A worker that cannot make units."""

    @classmethod
    def of(cls, problems: dict[str, str]) -> UnfitWorkerError:
        """Of workers by their address, each with what is wrong."""
        said: dict[str, list[str]] = {}
        for address, problem in problems.items():
            said.setdefault(problem, []).append(address)
        words = "; ".join(f"{_some(addresses)}: {problem}" for problem, addresses in said.items())
        remedy = "start workers where that folder has the same path" if "does not see" in words else "install the same"
        return cls(f"{words}; {remedy}, then run the command again.")


def named(addresses: list[str]) -> str:
    """ "worker tcp://… has", "workers tcp://…, tcp://… have"; "a worker has" where it is not known which."""
    return f"{_some(addresses)} {'have' if len(addresses) > 1 else 'has'}" if addresses else "a worker has"


def _some(addresses: list[str]) -> str:
    more = f" and {len(addresses) - 3:,} more" if len(addresses) > 3 else ""
    return f"worker{'s' if len(addresses) > 1 else ''} {', '.join(addresses[:3])}{more}"
