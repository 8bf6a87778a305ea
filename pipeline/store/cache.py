"""Stages on disk: a folder per result, named by a hash of everything that made it.

    <store>/<stage>/<key>/manifest.json   settings, inputs, code version, versions, times, checksums of the files
    <store>/<stage>/<key>/…               the files

The key is a hash of the stage's settings, its inputs' keys and its code version, so a result can be stale in no way but
damage, which the checksums show. A folder is written under a temporary name and moved when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pipeline.store.files import file_digest
from pipeline.store.reasons import Wanted, why_new
from pipeline.text.own_paths import shareable

LEFTOVER = re.compile(r"\.tmp-[0-9a-f]{16}-\d+")
ALWAYS_HASHED_BYTES = 256 * 2**20
PACKAGES = ("datamodels-inf", "numpy", "scipy", "scikit-learn", "torch")


@dataclass(frozen=True)
class Spec:
    """What a stage's result is made from. Settings and inputs are JSON; the keys of inputs are stage names."""

    stage: str
    version: int
    settings: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """16 hex digits: the beginning of a sha256 of all four fields."""
        recipe = {"stage": self.stage, "version": self.version, "settings": self.settings, "inputs": self.inputs}
        text = json.dumps(recipe, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Result:
    """A stage's folder and what its manifest says."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def summary(self) -> dict[str, Any]:
        """What the stage says of its result, as JSON; `read_summary` gives it its type."""
        summary: dict[str, Any] = self.manifest["summary"]
        return summary

    @property
    def digest(self) -> str:
        """Of the content of its files, and of the rows that it uses of files outside."""
        return self.digest_without(())

    def digest_without(self, names: Collection[str]) -> str:
        """The same as if these files were not there."""
        files: dict[str, Any] = self.manifest["files"]
        checksums = {name: entry["sha256"] for name, entry in files.items() if name not in names}
        checksums |= self.summary.get("outside", {})
        return hashlib.sha256(json.dumps(checksums, sort_keys=True).encode()).hexdigest()

    @property
    def n_bytes(self) -> int:
        """Of all its files together."""
        return sum(int(entry["bytes"]) for entry in self.manifest["files"].values())

    @property
    def n_bytes_outside(self) -> dict[str, int]:
        """Bytes that it uses of files beside its folder, by the folder of the store that they lie in; of arrays, their
        rows."""
        found: dict[str, int] = {}
        for name, runs in self.summary.get("outside", {}).items():
            home = next(part for part in Path(name).parts if part != "..")
            counted = [int(length) for start, length, _ in runs if start or not name.endswith(".npy")]
            found[home] = found.get(home, 0) + sum(counted)
        return found


class Store:
    """The folder of all stages' results.

    origin: the configuration that results are made for, "" if it has no name; it stands in manifests and in no key.
    """

    def __init__(self, root: Path, origin: str = "") -> None:
        self.root = root
        self.origin = origin

    def folder(self, spec: Spec) -> Path:
        """Where the result is, or would be."""
        return self.root / spec.stage / spec.key

    def look_up(
        self, spec: Spec, inputs: Mapping[str, Result], unread: Collection[str] = ()
    ) -> tuple[Result | None, str]:
        """(the intact result, "") or (None, the reason why the stage must run).

        A result that was made from `inputs` of other content (an input lost and made again by other versions, say) is
        not taken, though its key is the same. unread: files of inputs that the stage does not read; it does not matter
        that they have come since.
        """
        folder = self.folder(spec)
        if not (folder / "manifest.json").is_file():
            return None, self._what_changed(spec)
        manifest = _read_manifest(folder / "manifest.json")
        if manifest is None:
            return None, f"{folder / 'manifest.json'} is damaged"
        if (manifest["stage"], manifest["key"]) != (spec.stage, spec.key):
            return None, f"{folder} holds the result of {manifest['stage']} {manifest['key']}"
        damage = _damage(folder, manifest["files"]) or _outside_damage(folder, manifest["summary"])
        if damage:
            return None, damage
        for name, result in inputs.items():
            if manifest["input_digests"].get(name) not in (result.digest, result.digest_without(unread)):
                return None, f"{name} was made again and is not what it was"
        return Result(folder, manifest), ""

    def make(self, spec: Spec, inputs: Mapping[str, Result], work: Callable[[Path], dict[str, Any]]) -> Result:
        """Run `work` in a temporary folder, describe what it wrote, and move it to its place."""
        home = self.root / spec.stage
        home.mkdir(parents=True, exist_ok=True)
        temporary = home / f".tmp-{spec.key}-{os.getpid()}"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        try:
            started = time.monotonic()
            summary = work(temporary)
            digests = {name: result.digest for name, result in inputs.items()}
            _write_manifest(temporary, spec, digests, summary, time.monotonic() - started, self.origin)
            shutil.rmtree(self.folder(spec), ignore_errors=True)
            temporary.rename(self.folder(spec))
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        found, problem = self.look_up(spec, inputs)
        if found is None:
            raise OSError(f"{self.folder(spec)} was written but cannot be read back: {problem}")
        return found

    def unfinished(self, spec: Spec, inputs: Mapping[str, Result], *, fresh: bool) -> Path:
        """Where a stage keeps its unfinished work: a folder that outlives a kill, of this recipe and these inputs."""
        digests = json.dumps({name: result.digest for name, result in inputs.items()}, sort_keys=True)
        name = f".work-{spec.key}-{hashlib.sha256(digests.encode()).hexdigest()[:8]}"
        folder = self.root / spec.stage / name
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        return folder

    @contextmanager
    def locked(self, say: Callable[[str], object]) -> Iterator[None]:
        """One process at a time; the next one says whom it waits for. What a killed process left is removed."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock, holder = FileLock(self.root / ".lock"), self.root / ".lock-holder"
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"waiting for {_read(holder) or 'another process'}, which uses {self.root} …")
            lock.acquire()
        try:
            holder.write_text(f"process {os.getpid()} ({shareable(' '.join(sys.argv[1:]))[:80]})", encoding="utf-8")
            for leftover in self.root.glob("*/.tmp-*"):
                if LEFTOVER.fullmatch(leftover.name):
                    shutil.rmtree(leftover, ignore_errors=True)
            yield
        finally:
            holder.unlink(missing_ok=True)
            lock.release()

    def _what_changed(self, spec: Spec) -> str:
        """Against an earlier result of the stage: "test.repeats: 20 → 30"."""
        earlier = [m for m in map(_read_manifest, (self.root / spec.stage).glob("*/manifest.json")) if m]
        wanted = Wanted(spec.version, spec.settings, spec.inputs, self.origin)
        return why_new(wanted, sorted(earlier, key=lambda manifest: str(manifest["made_at"])))


def _damage(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> str:
    """What is wrong with the files, or "". Very large files are read only if their time stamp has changed."""
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            return f"{path} is missing"
        stat = path.stat()
        if stat.st_size != expected["bytes"]:
            return f"{path} is damaged: {stat.st_size} bytes where {expected['bytes']} were written"
        untouched = stat.st_size > ALWAYS_HASHED_BYTES and stat.st_mtime_ns == expected["mtime_ns"]
        if not untouched and file_digest(path) != expected["sha256"]:
            return f"{path} is damaged: its checksum has changed"
    return ""


def _outside_damage(folder: Path, summary: Mapping[str, Any]) -> str:
    """What is wrong with the rows that a stage uses of files outside its folder, which later runs may add rows to.

    They are read only if the file's time stamp is not the one noted beside it after our own last write.
    """
    for name, ranges in summary.get("outside", {}).items():
        path = folder / name
        if not path.is_file():
            return f"{path.resolve()} is missing"
        if _read(path.with_name("mtime")) == str(path.stat().st_mtime_ns):
            continue
        with path.open("rb") as file:
            for start, length, digest in ranges:
                file.seek(start)
                if hashlib.sha256(file.read(length)).hexdigest() != digest:
                    where = f"bytes {start:,} to {start + length - 1:,}"
                    return f"{path.resolve()} is damaged: the checksum of {where} has changed"
    return ""


def _write_manifest(
    folder: Path, spec: Spec, digests: Mapping[str, str], summary: dict[str, Any], seconds: float, origin: str
) -> None:
    files = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        stat = path.stat()
        entry = {"bytes": stat.st_size, "sha256": file_digest(path), "mtime_ns": stat.st_mtime_ns}
        files[path.relative_to(folder).as_posix()] = entry
    manifest = {
        "stage": spec.stage,
        "key": spec.key,
        "version": spec.version,
        "settings": spec.settings,
        "inputs": spec.inputs,
        "input_digests": dict(digests),
        "summary": shareable(summary),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "command": shareable(" ".join(sys.argv[1:])),
        "origin": origin,
        "versions": versions(),
        "files": files,
    }
    manifest["checksum"] = _manifest_checksum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _manifest_checksum(manifest: Mapping[str, Any]) -> str:
    """Of all but itself: later stages read parameters from a manifest."""
    body = {name: value for name, value in manifest.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _read_manifest(path: Path) -> dict[str, Any] | None:
    """A manifest as it was written, or None."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        intact = manifest["checksum"] == _manifest_checksum(manifest)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if intact else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def versions() -> dict[str, str]:
    """Of Python and of the packages that results may depend on."""
    return {"python": platform.python_version(), **_package_versions()}


@cache
def _package_versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}
