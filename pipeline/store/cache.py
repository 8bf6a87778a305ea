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
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from pipeline.store.disk import telling_of_the_disk
from pipeline.store.files import PROVISIONAL, durable_folder, flush, flush_tree, put_aside, remove_parts, whole_file
from pipeline.store.hashing import Hashing
from pipeline.store.locks import held
from pipeline.store.manifests import MANIFEST, Spec, read_fitting, read_manifest, versions, write_manifest
from pipeline.store.reasons import Wanted, why_new
from pipeline.store.unfinished_works import remove_abandoned, remove_works
from pipeline.text.own_paths import shareable

__all__ = ["Result", "Spec", "Store", "damage_of", "versions"]

LEFTOVER = re.compile(r"\.tmp-[0-9a-f]{16}-\d+")


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
        """A checksum of the content of its files, and of the rows that it uses of files outside."""
        return self.digest_without(())

    def digest_without(self, names: Collection[str]) -> str:
        """The same as if these files were not there."""
        files: dict[str, Any] = self.manifest["files"]
        checksums = {name: entry["sha256"] for name, entry in files.items() if name not in names}
        checksums |= self.summary.get("outside", {})
        return hashlib.sha256(json.dumps(checksums, sort_keys=True).encode()).hexdigest()

    @property
    def n_bytes(self) -> int:
        """Bytes of all its files together."""
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
    quiet: no bar while gigabytes are hashed; threads: that hash them, None is one for each core.
    """

    def __init__(self, root: Path, origin: str = "", *, quiet: bool = True, threads: int | None = None) -> None:
        self.root = root
        self.origin = origin
        self.hashing = Hashing(root, quiet=quiet, threads=threads)

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
        if not (folder / MANIFEST).is_file():
            return None, self._what_changed(spec)
        manifest = read_manifest(folder / MANIFEST)
        if manifest is None:
            return None, f"{folder / MANIFEST} is damaged"
        if (manifest["stage"], manifest["key"]) != (spec.stage, spec.key):
            return None, f"{folder} holds the result of {manifest['stage']} {manifest['key']}"
        damage = next(damage_of(folder, manifest, self.hashing), "")
        if damage:
            return None, damage
        for name, result in inputs.items():
            if manifest["input_digests"].get(name) not in (result.digest, result.digest_without(unread)):
                return None, f"{name} was made again and is not what it was"
        return Result(folder, manifest), ""

    def make(self, spec: Spec, inputs: Mapping[str, Result], work: Callable[[Path], dict[str, Any]]) -> Result:
        """Run `work` in a temporary folder, describe what it wrote, and move it to its place.

        It has its name when all of it is on the disk, so that a power loss leaves it whole or not at all.
        """
        home, folder = self.root / spec.stage, self.folder(spec)
        temporary = home / f"{PROVISIONAL}{spec.key}-{os.getpid()}"
        with telling_of_the_disk(self.root, "--store", there=temporary):
            durable_folder(home)
            try:
                shutil.rmtree(temporary, ignore_errors=True)
                temporary.mkdir()
                started = time.monotonic()
                summary = work(temporary)
                digests, seconds = {name: result.digest for name, result in inputs.items()}, time.monotonic() - started
                write_manifest(
                    temporary, spec, digests, summary, seconds=seconds, origin=self.origin, hashing=self.hashing
                )
                flush_tree(temporary)
                _make_way(folder)
                temporary.rename(folder)
                flush(home)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            manifest = read_manifest(folder / MANIFEST)
            if manifest is None:
                raise OSError(f"{folder} was written but cannot be read back")
        remove_works(home, spec.key)
        return Result(folder, manifest)

    def unfinished(self, spec: Spec, inputs: Mapping[str, Result], *, fresh: bool) -> Path:
        """Where a stage keeps its unfinished work: a folder that outlives a kill, of this recipe and these inputs."""
        digests = json.dumps({name: result.digest for name, result in inputs.items()}, sort_keys=True)
        name = f".work-{spec.key}-{hashlib.sha256(digests.encode()).hexdigest()[:8]}"
        folder = self.root / spec.stage / name
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        return folder

    @contextmanager
    def locked(self, say: Callable[[str], object], keep: Collection[str] = ()) -> Iterator[None]:
        """One process at a time; the next one says whom it waits for. What a killed process left is removed, and so is
        unfinished work of other keys than `keep` that nobody has gone on with for long."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock, holder = FileLock(self.root / ".lock"), self.root / ".lock-holder"

        def waiting() -> None:
            say(f"waiting for {_read(holder) or 'another process'}, which uses {self.root} …")

        with held(lock, waiting):
            try:
                told = f"process {os.getpid()} ({shareable(' '.join(sys.argv[1:]))[:80]})"
                with suppress(OSError), whole_file(holder, durable=False) as temporary:  # A courtesy to those who wait.
                    temporary.write_text(told, encoding="utf-8")
                self._clear_up(keep, say)
                yield
            finally:
                with suppress(OSError):
                    holder.unlink(missing_ok=True)

    def _clear_up(self, keep: Collection[str], say: Callable[[str], object]) -> None:
        """What killed processes left, by the one process that uses the store."""
        for leftover in self.root.glob(f"*/{PROVISIONAL}*"):
            if LEFTOVER.fullmatch(leftover.name):
                shutil.rmtree(leftover, ignore_errors=True)
        for folder in (self.root, *self.root.glob("objects/*")):
            remove_parts(folder)
        remove_abandoned(self.root, keep, say)

    def _what_changed(self, spec: Spec) -> str:
        """Against an earlier result of the stage: "test.repeats: 20 → 30"."""
        earlier = [m for m in map(read_fitting, (self.root / spec.stage).glob(f"*/{MANIFEST}")) if m]
        wanted = Wanted(spec.version, spec.settings, spec.inputs, self.origin)
        return why_new(wanted, sorted(earlier, key=lambda manifest: str(manifest["made_at"])))


def damage_of(folder: Path, manifest: Mapping[str, Any], hashing: Hashing) -> Iterator[str]:
    """What is wrong with a result's files, and with the rows that it uses of files outside its folder."""
    yield from _damage(folder, manifest["files"], hashing)
    yield from _outside_damage(folder, manifest["summary"], hashing)


def _damage(folder: Path, files: Mapping[str, Mapping[str, Any]], hashing: Hashing) -> Iterator[str]:
    """First what can be seen without reading."""
    whole = {}
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            yield f"{path} is missing"
        elif path.stat().st_size != expected["bytes"]:
            yield f"{path} is damaged: {path.stat().st_size} bytes where {expected['bytes']} were written"
        else:
            whole[path] = expected["sha256"]
    for path, problem in hashing.problems(whole).items():
        yield f"{path} is damaged: {problem}"


def _outside_damage(folder: Path, summary: Mapping[str, Any], hashing: Hashing) -> Iterator[str]:
    """Of files that later runs may add rows to."""
    for name, ranges in summary.get("outside", {}).items():
        path = folder / name
        if not path.is_file():
            yield f"{path.resolve()} is missing"
            continue
        for number in hashing.damaged(path, ranges):
            start, length, _ = ranges[number]
            where = f"bytes {start:,} to {start + length - 1:,}"
            yield f"{path.resolve()} is damaged: the checksum of {where} has changed"


def _make_way(folder: Path) -> None:
    """For the same result, made again: what was there is damaged, or not wanted."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):  # What a link leads to is left as it is.
        put_aside(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
