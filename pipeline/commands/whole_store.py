"""`datamodels-inf status --verify`: every byte that has a checksum is read now, whatever was noted of it before.

Results of all configurations, rows of mirrors, unfinished steps, CIFAR-10, and the published reports of this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.internal.threads import in_threads
from pipeline.errors import BadInputError, WorkStoppedError
from pipeline.images.stored_file import IMAGE_FILE
from pipeline.progress import progress_bar
from pipeline.remote.journal import Journal
from pipeline.remote.mirror import ARRAY, DTYPES, array_header, read_note
from pipeline.run import Pipeline
from pipeline.stages import STAGES
from pipeline.store.files import PART
from pipeline.store.hashing import part_digest
from pipeline.store.manifests import MANIFEST, read_fitting
from pipeline.store.unfinished_steps import fits_checksum, read_step
from pipeline.store.unfinished_works import unfinished_works
from pipeline.text.json_file import read_json
from pipeline.text.numbers import counted, human_bytes

KEY = re.compile("[0-9a-f]{16}")
COPY = re.compile("([0-9a-f]{16})-.*")
"""The name of a copy for workers of a cluster, which begins with its checksum."""

Advance = Callable[[float], object]


@dataclass(frozen=True)
class Check:
    """Bytes of a file that must have a checksum. problem: reads them, and says in words what is wrong, or nothing."""

    path: Path
    n_bytes: int
    problem: Callable[[Advance], str]
    name: tuple[Any, ...] = ()
    """Of equal checks only one is made."""


def verified_lines(pipeline: Pipeline) -> Iterator[str]:
    """A line for each file that is damaged, or one that all are as they were written."""
    refuse_no_store(pipeline.store.root)
    checks, threads = _different_checks(pipeline), pipeline.threads or available_cores()
    problems = _made(checks, pipeline.quiet, threads)
    if problems:  # A run beside this may have finished or replaced some meanwhile: as they are now.
        wrong = {check.path for check, _ in problems}
        problems = _made([check for check in _different_checks(pipeline) if check.path in wrong], True, threads)
    yield from sorted({f"{check.path}: {words}" for check, words in problems})
    files, n_bytes = len({check.path for check in checks}), sum(check.n_bytes for check in checks)
    if problems:
        damaged = len({check.path for check, _ in problems})
        raise WorkStoppedError(
            f"{damaged:,} of {counted(files, 'file')} {'is' if damaged == 1 else 'are'} not as written; a run makes or "
            "fetches again what it needs of them."
        )
    yield f"{counted(files, 'file')}, {human_bytes(n_bytes)}: all as they were written"


def refuse_no_store(root: Path) -> None:
    """Of what is no folder nothing can be said; where nothing is yet, nothing is wrong."""
    if root.exists() and not root.is_dir():
        raise BadInputError(f"--store {root} is no folder; name the store.")


def _made(checks: Sequence[Check], quiet: bool, threads: int) -> list[tuple[Check, str]]:
    """Those that fail, each with what is wrong."""
    found: list[tuple[Check, str]] = []
    with progress_bar(sum(check.n_bytes for check in checks), "B", "verify", quiet) as advance:

        def make(check: Check) -> None:
            try:
                problem = check.problem(advance)
            except FileNotFoundError:
                problem = "is missing"
            except OSError as error:
                problem = f"cannot be read ({error.strerror})"
            if problem:
                found.append((check, problem))

        in_threads(make, sorted(checks, key=lambda check: -check.n_bytes), threads)
    return found


def _different_checks(pipeline: Pipeline) -> list[Check]:
    return list({check.name or id(check): check for check in _checks(pipeline)}.values())


def _checks(pipeline: Pipeline) -> Iterator[Check]:
    root = pipeline.store.root
    for stage in STAGES:
        for folder in sorted((root / stage).glob("*")):
            if KEY.fullmatch(folder.name):
                yield from _of_result(folder)
    for folder in sorted((root / "objects").glob("*")):
        if KEY.fullmatch(folder.name):
            yield from _of_mirror(folder)
    for work in unfinished_works(root):
        yield from _of_work(work.folder)
    yield from _of_images(root / "images")
    yield from _of_reports(pipeline)


def _of_result(folder: Path) -> Iterator[Check]:
    manifest = read_fitting(folder / MANIFEST)
    if manifest is None:
        yield _wrong(folder / MANIFEST)
        return
    yield _right(folder / MANIFEST)
    for name, entry in manifest["files"].items():
        yield _whole(folder / name, entry)
    for name, ranges in manifest["summary"].get("outside", {}).items():
        for start, length, digest in ranges:
            yield _range((folder / name).resolve(), start, length, digest)


def _of_mirror(folder: Path) -> Iterator[Check]:
    note = read_note(folder / "object.json")
    if note is None:
        yield _wrong(folder / "object.json")
        return
    yield _right(folder / "object.json")
    shape = tuple(note["shape"])
    journal = Journal(folder, shape[0], mend=False)
    if journal.problem:
        yield Check(journal.file, 0, lambda advance: journal.problem)
    path = next(iter(sorted(folder.glob("file*"))), folder / "file") if len(shape) == 1 else folder / ARRAY
    layout = _layout(path, shape)
    if layout is None:
        yield Check(path, 0, lambda advance: "is damaged: its header has changed" if path.is_file() else "is missing")
        return
    offset, width = layout
    for (start, stop), digest in sorted(journal.done.items()):
        yield _range(path.resolve(), offset + start * width, (stop - start) * width, digest)


def _layout(path: Path, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Where the first row begins, and the bytes of a row; None where the file's header is none of ours."""
    if len(shape) == 1:
        return 0, 1
    for dtype in DTYPES:
        header = array_header(dtype, shape)
        try:
            with path.open("rb") as file:
                if file.read(len(header)) == header:
                    return len(header), prod(shape[1:]) * np.dtype(dtype).itemsize
        except OSError:
            return None
    return None


def _of_work(folder: Path) -> Iterator[Check]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith(PART) or path.suffix == ".sha256":
            continue
        size, copy = _size(path), COPY.fullmatch(path.name)
        if copy is not None:
            yield Check(path, size, _of_copy(path, copy[1]))
        elif path.suffix == ".npz":
            yield Check(path, size, _of_step(path))
        elif path.suffix == ".npy":
            yield Check(path, size, _of_tile(path))


def _of_copy(path: Path, digest: str) -> Callable[[Advance], str]:
    return lambda advance: (
        "" if part_digest(path, 0, None, advance).startswith(digest) else "is damaged: its checksum has changed"
    )


def _of_step(path: Path) -> Callable[[Advance], str]:
    def problem(advance: Advance) -> str:
        complaints: list[str] = []
        read_step(path, complaints.append)
        advance(path.stat().st_size)
        return complaints[0].removeprefix(f"{path} ") if complaints else ""

    return problem


def _of_tile(path: Path) -> Callable[[Advance], str]:
    def problem(advance: Advance) -> str:
        fits = fits_checksum(path)
        advance(path.stat().st_size)
        return "" if fits else "is damaged: its checksum has changed"

    return problem


def _of_images(folder: Path) -> Iterator[Check]:
    path = folder / IMAGE_FILE
    if not path.is_file():
        return
    try:
        digest = str(read_json(path.with_suffix(".json"))["file_sha256"])
    except (BadInputError, KeyError, TypeError):
        yield _wrong(path.with_suffix(".json"))
        return
    yield _whole(path, {"bytes": path.stat().st_size, "sha256": digest})


def _of_reports(pipeline: Pipeline) -> Iterator[Check]:
    """Folders that hold at least one file of this configuration's report; others hold another one, which `status`
    says."""
    try:
        specs = dict(pipeline.specs())
    except BadInputError:
        return
    for name, spec in specs.items():
        manifest = read_fitting(pipeline.store.folder(spec) / MANIFEST) if STAGES[name].published else None
        if manifest is not None:
            home = pipeline.reports / f"{pipeline.config.report.name}{STAGES[name].suffix}"
            checks = [_whole(home / file, entry) for file, entry in manifest["files"].items()]
            if any(check.path.is_file() and not check.problem(lambda step: None) for check in checks):
                yield from checks


def _whole(path: Path, entry: dict[str, Any]) -> Check:
    def problem(advance: Advance) -> str:
        size = path.stat().st_size
        if size != entry["bytes"]:
            return f"is damaged: {size:,} bytes where {entry['bytes']:,} were written"
        fits = part_digest(path, 0, None, advance) == entry["sha256"]
        return "" if fits else "is damaged: its checksum has changed"

    return Check(path, int(entry["bytes"]), problem)


def _range(path: Path, start: int, length: int, digest: str) -> Check:
    def problem(advance: Advance) -> str:
        if part_digest(path, start, length, advance) == digest:
            return ""
        return f"is damaged: the checksum of bytes {start:,} to {start + length - 1:,} has changed"

    return Check(path, length, problem, (path, start, length, digest))


def _wrong(path: Path) -> Check:
    """A note that cannot be read as it was written."""
    return Check(path, 0, lambda advance: "is damaged" if path.is_file() else "is missing")


def _right(path: Path) -> Check:
    """One that has been."""
    return Check(path, _size(path), lambda advance: "")


def _size(path: Path) -> int:
    """0 of what a run has just removed."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
