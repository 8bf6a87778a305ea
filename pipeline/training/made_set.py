"""The source folder that `datamodels-inf train` makes of models trained here.

    masks.npy      bits, (n_models, ⌈n_train/8⌉) uint8, as numpy.packbits gives them
    margins.npy    float16, (n_models, n_targets)
    margins.npz    instead, where the job has a margin_step: its `multiples`, int8 or int16, (n_targets, n_models)
    features.npz   what models saw, where that is not pixels, with labels and the images' places in CIFAR-10
    images.npz     training and target images, labels, class names; not where features.npz says which images they are
    manifest.json  seed, recipe, versions, checksums

Models of a function of the user's (`FunctionJob`) leave a folder as in docs/own-data.md instead: masks.npy,
outcomes.npy (float32), subsets.json, labels.npz and images.npz where they were given; with a manifest.json as well.

Finished batches of models are kept in `.parts` (`Parts`); a killed run goes on from there, and shards meet there.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from pipeline.errors import BadInputError
from pipeline.places.base import Place, Work
from pipeline.sources.trained import FORMAT, MULTIPLES
from pipeline.store.disk import telling_of_the_disk
from pipeline.store.files import file_digest, make_folder, remove_parts, save_array, save_arrays, whole_file
from pipeline.text.sealed_json import read_sealed, sealed
from pipeline.training.any_job import AnyJob
from pipeline.training.function_job import FunctionJob
from pipeline.training.job import Job
from pipeline.training.parts import Parts, check_same
from pipeline.training.shards import Shard
from pipeline.training.supplies import Supplies, check_kept, kept_files
from pipeline.training.work import Models

MANIFEST = "manifest.json"


def train_source(
    supplies: Supplies, out: Path, place: Place, quiet: bool, say: Callable[[str], object] = lambda line: None
) -> Path:
    """Make the source folder `out`, or go on with it; a folder of another job is left alone."""
    parts = Parts(out, supplies.job)
    if not is_whole(parts):
        with telling_of_the_disk(out, "--out", there=parts.folder), unless_made(parts):
            work = _begun(supplies, parts)
            with parts.work(say=say):
                parts.train_missing(parts.starts, work, partial(kept_margins, parts.job), place, quiet, say)
                assemble(parts, _all_outcomes(parts))
    parts.remove()
    return out


@dataclass(frozen=True)
class ShardDone:
    """What became of a shard: its batches and models, how many of these were trained now, and which batches of the
    whole set are not there yet, by their first model. whole: the set needs no shard any more."""

    n_batches: int
    n_models: int
    n_trained: int
    missing: tuple[int, ...]
    whole: bool = False


def train_shard(
    shard: Shard, supplies: Supplies, out: Path, place: Place, quiet: bool, say: Callable[[str], object]
) -> ShardDone:
    """Train the batches of one shard into `.parts` of `out`, and leave the set to `merge`."""
    parts = Parts(out, supplies.job)
    own, trained = parts.of_shard(shard), 0
    if not is_whole(parts):
        with telling_of_the_disk(out, "--out", there=parts.folder), unless_made(parts):
            work = _begun(supplies, parts)
            with parts.work(shard, say):
                trained = parts.train_missing(own, work, partial(kept_margins, parts.job), place, quiet, say)
    if whole := is_whole(parts):
        parts.remove()  # What was trained while others finished the set.
    missing = () if whole else tuple(start for start in parts.starts if not parts.path(start).is_file())
    return ShardDone(len(own), parts.n_models(own), trained, missing, whole)


def is_whole(parts: Parts) -> bool:
    """Whether the set of these parts is made; one that is damaged or of another job is refused."""
    manifest = parts.out / MANIFEST
    if not manifest.is_file():
        return False
    check_same(manifest, parts.job, "holds a set made with other settings")
    _check_files(parts.out)
    return True


@contextmanager
def unless_made(parts: Parts) -> Iterator[None]:
    """What fails since another process made the set, and removed its parts, has not failed."""
    try:
        yield
    except (BadInputError, FileNotFoundError):
        if not is_whole(parts):
            raise


def _begun(supplies: Supplies, parts: Parts) -> Work[Models]:
    """How models are trained, of a folder that is claimed and has all they need."""
    make_folder(parts.out, "--out")
    with parts.claimed():
        return supplies.keep(parts.folder)


def kept_margins(job: AnyJob, margins: NDArray[np.float32]) -> NDArray[Any]:
    """Margins as a set of this job keeps them: float16, or multiples of its margin_step; of a function, as they are."""
    if isinstance(job, FunctionJob):
        return margins
    if job.margin_step is not None:
        multiples = np.rint(margins / job.margin_step)
        if not np.abs(multiples).max() <= np.iinfo(np.int16).max:
            raise BadInputError(f"margins are too large for train.margin_step = {job.margin_step}; raise it.")
        return np.asarray(multiples, np.int16)
    with np.errstate(over="ignore"):
        half = margins.astype(np.float16)
    if not np.isfinite(half).all():
        raise BadInputError("the training diverged: margins are infinite or NaN; lower --learning-rate.")
    return half


def _check_files(out: Path) -> None:
    try:
        digests = dict(read_sealed(out / MANIFEST)["sha256"])
    except (BadInputError, ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{out / MANIFEST} is damaged; delete {out} and make the set again.") from error
    for name, digest in digests.items():
        if not (out / name).is_file() or file_digest(out / name) != digest:
            raise BadInputError(f"{out / name} is missing or damaged; delete {out} and make the set again.")


def _all_outcomes(parts: Parts) -> list[NDArray[Any]]:
    found = []
    for start in parts.starts:
        outcomes = parts.outcomes(start)
        if outcomes is None:
            raise BadInputError(f"{parts.path(start)} is damaged; run the command again.")
        found.append(outcomes)
    return found


def assemble(parts: Parts, outcomes: Sequence[NDArray[Any]]) -> None:
    """The set's files, of all batches and of what models needed; the manifest comes last, so that a folder that has one
    is complete."""
    job, out = parts.job, parts.out
    remove_parts(out)
    check_kept(job, parts.folder)  # It may be days since they were brought.
    with whole_file(out / "masks.npy") as temporary:
        save_array(temporary, np.concatenate([pack_rows(parts.models(start).masks(job)) for start in parts.starts]))
    names = ["masks.npy", _save_margins(job, np.concatenate(outcomes), out)]
    for name in kept_files(job, parts.folder):
        with whole_file(out / name) as temporary:
            shutil.copyfile(parts.folder / name, temporary)
        names.append(name)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "job": job.as_json(),
        "threads_per_model": 1,
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("numpy", "torch", "scikit-learn")},
        },
        "sha256": {name: file_digest(out / name) for name in names},
    }
    with whole_file(out / MANIFEST) as temporary:
        temporary.write_text(json.dumps(sealed(manifest), indent=1) + "\n", encoding="utf-8")


def _save_margins(job: AnyJob, margins: NDArray[Any], out: Path) -> str:
    """The name of their file. One target's multiples beside each other pack best."""
    if isinstance(job, FunctionJob) or job.margin_step is None:
        name = "margins.npy" if isinstance(job, Job) else "outcomes.npy"
        with whole_file(out / name) as temporary:
            save_array(temporary, margins)
        return name
    small = np.abs(margins).max() <= np.iinfo(np.int8).max
    save_arrays(out / MULTIPLES, {"multiples": margins.T.astype(np.int8 if small else np.int16)}, compress=True)
    return MULTIPLES
