"""`datamodels-inf train`: a source folder of masks, margins and images, from models trained here.

    masks.npy      bits, (n_models, ⌈n_train/8⌉) uint8, as numpy.packbits gives them
    margins.npy    float16, (n_models, n_targets)
    images.npz     training and target images, labels, class names
    manifest.json  seed, recipe, versions, checksums

Models are trained in chunks by worker processes of one thread each, so that margins depend on neither the number of
cores nor the order. A finished chunk is kept in `.parts`; a killed run goes on from there.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from datamodels_inf.training.train import Law, Recipe, draw_masks, train_margins
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, as_float
from pipeline.progress import progress_bar
from pipeline.sources.trained import FORMAT
from pipeline.store.files import file_digest, make_folder, whole_file

CHUNK = 512


@dataclass(frozen=True)
class Job:
    """Everything that the margins depend on."""

    dataset: str
    n_train: int
    n_targets: int
    images_sha256: str
    n_models: int
    recipe: Recipe
    seed: int
    proportion: float
    law: Law


def train_source(job: Job, images: ImageSet, out: Path, workers: int, quiet: bool) -> Path:
    """Make the source folder `out`, or go on with it; a folder of another job is left alone."""
    parts = out / ".parts"
    if (out / "manifest.json").is_file():
        _check_same(out / "manifest.json", job, "holds a set made with other settings")
        _check_whole(out)
        return out
    make_folder(out, "--out")
    _claim(parts, job)
    with FileLock(parts / "lock"):
        if not (out / "manifest.json").is_file():  # Else another process made it while this one waited.
            _finish(job, images, parts, out, workers, quiet)
    shutil.rmtree(parts, ignore_errors=True)
    return out


def _finish(job: Job, images: ImageSet, parts: Path, out: Path, workers: int, quiet: bool) -> None:
    missing = [start for start in range(0, job.n_models, CHUNK) if not _part(parts, start).is_file()]
    with progress_bar(job.n_models, "model", f"train {job.dataset}", quiet) as advance:
        advance(job.n_models - sum(min(CHUNK, job.n_models - start) for start in missing))
        for start, margins in _train(job, images, missing, workers):
            with whole_file(_part(parts, start)) as temporary:
                np.save(temporary, margins)
            advance(len(margins))
    _assemble(job, images, parts, out)


def _train(job: Job, images: ImageSet, starts: list[int], workers: int) -> Iterator[tuple[int, NDArray[np.float16]]]:
    if not starts:
        return
    # Spawned, since torch's threads do not survive a fork; each process gets the images once.
    with ProcessPoolExecutor(
        min(workers, len(starts)), mp_context=get_context("spawn"), initializer=_start_worker, initargs=(job, images)
    ) as pool:
        with _interrupts_ignored():  # Workers inherit it: a Ctrl-C is the parent's to answer.
            futures = {pool.submit(_train_in_worker, start): start for start in starts}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_of_this_worker: list[tuple[Job, ImageSet]] = []


def _start_worker(job: Job, images: ImageSet) -> None:
    import torch

    torch.set_num_threads(1)
    _of_this_worker.append((job, images))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker must not outlive a parent that was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _train_in_worker(start: int) -> NDArray[np.float16]:
    return train_chunk(*_of_this_worker[0], start)


def train_chunk(job: Job, images: ImageSet, start: int, count: int = CHUNK) -> NDArray[np.float16]:
    """Margins of models start, start+1, …; in a process with one torch thread, the same bits every time."""
    stop = min(start + count, job.n_models)
    masks = draw_masks(len(images.train), start, stop, seed=job.seed, proportion=job.proportion, law=job.law)
    margins = train_margins(
        as_float(images.train),
        images.train_labels,
        as_float(images.targets),
        images.target_labels,
        masks,
        first=start,
        recipe=job.recipe,
        seed=job.seed,
        n_classes=len(images.class_names),
    )
    with np.errstate(over="ignore"):
        half = margins.astype(np.float16)
    if not np.isfinite(half).all():
        raise BadInputError("the training diverged: margins are infinite or NaN; lower --learning-rate.")
    return half


def _part(parts: Path, start: int) -> Path:
    return parts / f"{start:09d}.npy"


def _claim(parts: Path, job: Job) -> None:
    """Note whose parts these are; refuse those of another job."""
    note = parts / "job.json"
    if note.is_file():
        _check_same(note, job, "holds unfinished work with other settings")
        return
    if any(path.name != ".parts" for path in parts.parent.iterdir()):
        raise BadInputError(f"--out {parts.parent} is not empty and was not made by this command; name another folder.")
    parts.mkdir(exist_ok=True)
    with whole_file(note) as temporary:
        temporary.write_text(json.dumps({"job": asdict(job)}), encoding="utf-8")


def _check_same(path: Path, job: Job, problem: str) -> None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["job"]
    except (ValueError, KeyError, TypeError):
        found = None
    if found != asdict(job):
        raise BadInputError(f"{path.parent} {problem}; give --out another folder.")


def _check_whole(out: Path) -> None:
    digests = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["sha256"]
    for name, digest in digests.items():
        if not (out / name).is_file() or file_digest(out / name) != digest:
            raise BadInputError(f"{out / name} is missing or damaged; delete {out} and make the set again.")


def _assemble(job: Job, images: ImageSet, parts: Path, out: Path) -> None:
    """The source's files; the manifest comes last, so that a folder that has one is complete."""
    margins = np.concatenate([_load_part(_part(parts, start)) for start in range(0, job.n_models, CHUNK)])
    bits = np.concatenate([_bits(job, len(images.train), start) for start in range(0, job.n_models, CHUNK)])
    for name, array in (("margins.npy", margins), ("masks.npy", bits)):
        with whole_file(out / name) as temporary:
            np.save(temporary, array)
    with whole_file(out / "images.npz") as temporary:
        images.save(temporary)
    files = {name: file_digest(out / name) for name in ("masks.npy", "margins.npy", "images.npz")}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "job": asdict(job),
        "threads_per_model": 1,
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("numpy", "torch", "scikit-learn")},
        },
        "sha256": files,
    }
    with whole_file(out / "manifest.json") as temporary:
        temporary.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _load_part(path: Path) -> NDArray[np.float16]:
    try:
        part: NDArray[np.float16] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise BadInputError(f"{path} is damaged; delete it and run the command again.") from error
    return part


def _bits(job: Job, n_train: int, start: int) -> NDArray[np.uint8]:
    stop = min(start + CHUNK, job.n_models)
    return pack_rows(draw_masks(n_train, start, stop, seed=job.seed, proportion=job.proportion, law=job.law))
