"""What `train` and `merge` say of the models that they have made, or of those that are still missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from datamodels_inf.row_blocks import LEAST
from pipeline.config import Test
from pipeline.images.image_set import Labels
from pipeline.text.nouns import noun_of
from pipeline.text.numbers import are_counted, counted
from pipeline.training.any_job import AnyJob
from pipeline.training.function_job import FunctionJob
from pipeline.training.inputs import FEATURE_FILE
from pipeline.training.job import Job
from pipeline.training.made_set import ShardDone
from pipeline.training.parts import Parts
from pipeline.training.shards import Shard
from pipeline.training.supplies import IMAGE_FILE

FEWEST = 6
"""Models that can be fitted and tested at all: three and three."""


def made_lines(job: AnyJob, out: Path, wanted: str | None = None) -> Iterator[str]:
    """Of a whole set; wanted: the class whose targets it was made for, if any."""
    noun = noun_of(are_images=not isinstance(job, FunctionJob) or IMAGE_FILE in job.files)
    what = f"{counted(job.n_train, noun)} and {counted(job.n_targets, 'target')}"
    verb = "is" if job.n_models == 1 else "are"
    yield f"{counted(job.n_models, 'model')} of {what} {verb} in {out}."
    if job.n_models >= 2 * LEAST:
        yield f"Use them: {shlex.join(['datamodels-inf', 'init', str(out)])}"
    elif job.n_models >= FEWEST and isinstance(job, Job):
        yield f"Use them: {_run_of_few(job, wanted, out)}"


def shard_lines(shard: Shard, done: ShardDone, parts: Parts) -> Iterator[str]:
    """Of a shard of a set that is not whole: what was done, what is still missing, and how shards become the set."""
    if done.whole:
        return
    n_batches, name = len(parts.starts), f"shard {shard.number:,} of {shard.count:,}"
    if not done.n_batches:
        batches = are_counted(n_batches, "batch") if n_batches == 1 else f"are only {n_batches:,} batches"
        yield f"{name.capitalize()} has nothing to train: there {batches} of {counted(parts.starts.step, 'model')}."
    else:
        there = done.n_models - done.n_trained
        before = f", {there:,} were there" if there else ""
        yield (
            f"{name.capitalize()}: {counted(done.n_trained, 'model')} trained{before}, of "
            f"{counted(parts.job.n_models, 'model')} in all; they are in {parts.folder}."
        )
    merge = shlex.join(["datamodels-inf", "merge", str(parts.out)])
    if not done.missing:
        yield f"No model is missing. Make the set of them: {merge}"
        return
    missing = parts.missing_in_words(done.missing, parts.shard_counts())
    yield f"In {parts.out}, {missing} missing."
    yield f"When all are there, or in folders whose names you add: {merge}"


def _run_of_few(job: Job, wanted: str | None, out: Path) -> str:
    """What works as it stands: of so few models that no rule divides them, a `run` that does."""
    labels = Labels.load(out / (IMAGE_FILE if job.features is None else FEATURE_FILE))
    first_target = int(labels.target_labels[0]) if wanted is None else labels.class_names.index(wanted)
    settings = {
        "source.kind": "files",
        "source.folder": str(out),
        "test.rows": "progressive",
        "test.method": "contrast",
        "test.target_class": labels.class_names[first_target],
        "report.name": re.sub(r"[^A-Za-z0-9]+", "-", out.resolve().name).strip("-") or job.dataset,
        "source.first_rows": str(job.n_models // 2),
    }
    n_same_class = int(np.bincount(labels.train_labels).min())
    supply = n_same_class * (n_same_class - 1) // 2 * int((labels.target_labels == first_target).sum())
    if supply < Test().repeats:
        settings["test.repeats"] = str(max(supply, 1))
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return shlex.join(["datamodels-inf", "run", *words])
