"""The source folder that `datamodels-inf train` makes of models trained here.

    masks.npy      bits, (n_models, ⌈n_train/8⌉) uint8, as numpy.packbits gives them
    margins.npy    float16, (n_models, n_targets)
    margins.npz    instead, where the job has a margin_step: its `multiples`, int8 or int16, (n_targets, n_models)
    features.npz   what models saw, where that is not pixels, with labels and the images' places in CIFAR-10
    images.npz     training and target images, labels, class names; not where features.npz says which images they are
    manifest.json  seed, recipe, versions, checksums

A finished chunk of models is kept in `.parts`; a killed run goes on from there.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from datamodels_inf.training.draws import draw_masks
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet
from pipeline.progress import progress_bar
from pipeline.sources.trained import FORMAT, MULTIPLES
from pipeline.store.files import file_digest, make_folder, save_arrays, whole_file
from pipeline.store.unfinished_steps import read_step, save_step
from pipeline.training.inputs import FEATURE_FILE, Features, Inputs
from pipeline.training.job import Job
from pipeline.training.workers import Batch, train_batches

CHUNK = 512


def train_source(
    job: Job,
    images: ImageSet,
    out: Path,
    workers: int,
    quiet: bool,
    make_features: Callable[[], Features] | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Path:
    """Make the source folder `out`, or go on with it; a folder of another job is left alone.

    make_features: for a job with features, asked once; what it gives is kept with the parts.
    """
    parts = out / ".parts"
    if (out / "manifest.json").is_file():
        _check_same(out / "manifest.json", job, "holds a set made with other settings")
        _check_whole(out)
        shutil.rmtree(parts, ignore_errors=True)  # Left by a process that was killed at its very end.
        return out
    make_folder(out, "--out")
    _claim(parts, job)
    with FileLock(parts / "lock"):
        if not (out / "manifest.json").is_file():  # Else another process made it while this one waited.
            features = None if make_features is None else _kept_features(parts, make_features)
            inputs = Inputs.of_pixels(images) if features is None else features.inputs
            _train_missing(job, inputs, parts, workers, quiet, say)
            _assemble(job, images, features, parts, out)
    shutil.rmtree(parts, ignore_errors=True)
    return out


def _kept_features(parts: Path, make_features: Callable[[], Features]) -> Features:
    path = parts / FEATURE_FILE
    if not path.is_file():
        make_features().save(path)
    return Features.load(path)


def _train_missing(
    job: Job, inputs: Inputs, parts: Path, workers: int, quiet: bool, say: Callable[[str], object]
) -> None:
    def complain(damage: str) -> None:
        say(f"{damage}; its models are trained again")

    missing = [s for s in range(0, job.n_models, CHUNK) if read_step(_part(parts, s), complain) is None]
    batches = (Batch.of(start, job.seed, start, _masks(job, start)) for start in missing)
    with progress_bar(job.n_models, "model", f"train {job.dataset}", quiet) as advance:
        advance(job.n_models - sum(min(CHUNK, job.n_models - start) for start in missing))
        for start, margins in train_batches(inputs, job.recipe, batches, workers):
            save_step(_part(parts, start), {"margins": kept_margins(job, margins)})
            advance(len(margins))


def kept_margins(job: Job, margins: NDArray[np.float32]) -> NDArray[Any]:
    """Margins as a set of this job keeps them: float16, or multiples of its margin_step."""
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


def _masks(job: Job, start: int) -> NDArray[np.bool_]:
    stop = min(start + CHUNK, job.n_models)
    return draw_masks(job.n_train, start, stop, seed=job.seed, proportion=job.proportion, law=job.law)


def _part(parts: Path, start: int) -> Path:
    return parts / f"{start:09d}.npz"


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
        temporary.write_text(json.dumps({"job": job.as_json()}), encoding="utf-8")


def _check_same(path: Path, job: Job, problem: str) -> None:
    try:
        found = Job.of_json(json.loads(path.read_text(encoding="utf-8"))["job"])
    except (ValueError, KeyError, TypeError):
        found = None
    if found != job:
        raise BadInputError(f"{path.parent} {problem}; give --out another folder.")


def _check_whole(out: Path) -> None:
    try:
        digests = dict(json.loads((out / "manifest.json").read_text(encoding="utf-8"))["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"{out / 'manifest.json'} is damaged; delete {out} and make the set again.") from error
    for name, digest in digests.items():
        if not (out / name).is_file() or file_digest(out / name) != digest:
            raise BadInputError(f"{out / name} is missing or damaged; delete {out} and make the set again.")


def _assemble(job: Job, images: ImageSet, features: Features | None, parts: Path, out: Path) -> None:
    """The source's files; the manifest comes last, so that a folder that has one is complete."""
    starts = range(0, job.n_models, CHUNK)
    with whole_file(out / "masks.npy") as temporary:
        np.save(temporary, np.concatenate([pack_rows(_masks(job, start)) for start in starts]))
    margins = np.concatenate([_load_part(_part(parts, start)) for start in starts])
    names = ["masks.npy", _save_margins(job, margins, out)]
    if features is not None:
        features.save(out / FEATURE_FILE)
        names.append(FEATURE_FILE)
    if features is None or not len(features.train_numbers):
        images.save(out / "images.npz")
        names.append("images.npz")
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
    with whole_file(out / "manifest.json") as temporary:
        temporary.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _save_margins(job: Job, margins: NDArray[Any], out: Path) -> str:
    """The name of their file. One target's multiples beside each other pack best."""
    if job.margin_step is None:
        with whole_file(out / "margins.npy") as temporary:
            np.save(temporary, margins)
        return "margins.npy"
    small = np.abs(margins).max() <= np.iinfo(np.int8).max
    save_arrays(out / MULTIPLES, {"multiples": margins.T.astype(np.int8 if small else np.int16)}, compress=True)
    return MULTIPLES


def _load_part(path: Path) -> NDArray[Any]:
    part = read_step(path, lambda damage: None)
    if part is None:
        raise BadInputError(f"{path} is damaged; run the command again.")
    return part["margins"]
