"""Images of CIFAR-10 for sources that have none of their own: from the store or wherever they can be had, all of
them or those that a set knows by number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import BadInputError, StoppedEarly
from pipeline.images.image_set import ImageSet, load_cifar10
from pipeline.images.stored_file import IMAGE_FILE
from pipeline.training.inputs import Features, images_digest

if TYPE_CHECKING:
    from pipeline.stages.base import Run

DEFAULT_STORE = Path("data")


def stored_images(store: Path) -> Path:
    """Where the store has all of CIFAR-10, if it has."""
    return store / "images" / IMAGE_FILE


def get_cifar10(run: Run) -> Path:
    """All of CIFAR-10 from the store, `source.mirrors`, the original host, torchvision or npm."""
    from pipeline.images.find import DEFAULT_MIRRORS, get_images

    file = stored_images(run.store)
    if run.dry_run and not file.is_file():
        raise StoppedEarly("dry run: the images of CIFAR-10, 170 MB, were not fetched.")
    mirrors = (*run.config.source.mirrors, *DEFAULT_MIRRORS)
    return get_images(file.parent, mirrors=mirrors, say=run.say, quiet=run.quiet)


def say_without_images(run: Run, why: BadInputError) -> None:
    """One line: why there are none and, with `why` itself, how to get them."""
    both = "" if run.store == DEFAULT_STORE else f", both with --store {run.store}"
    run.say(f"without images, with grey tiles: {why} Then run again{both}.")


@dataclass(frozen=True)
class NumberedImages:
    """Which images of CIFAR-10 a set is of.

    features: the file of `Features` that has their numbers and labels. sha256: their `images_digest`. copy: a copy of
    CIFAR-10 that the user named, in any form, or the very images of the set as one .npz; None to look for them.
    """

    features: Path
    sha256: str
    copy: Path | None

    def bring(self, run: Run, features: Features) -> tuple[ImageSet | None, bool]:
        """(the images, whether they may come later). Only a copy that the user named must be the right one."""
        if self.copy is not None:
            images = ImageSet.load(self.copy) if self.copy.suffix == ".npz" else load_cifar10(self.copy)
            return self.picked(images, features, str(self.copy)), False
        if not len(features.train_numbers):
            run.say(f"without images, with grey tiles: {self.features} does not say which images it is of.")
            return None, False
        try:
            file = get_cifar10(run)
        except BadInputError as error:
            say_without_images(run, error)
            return None, True
        try:
            return self.picked(ImageSet.load(file), features, str(file)), False
        except BadInputError as error:
            run.say(f"without images, with grey tiles: {error}")
            return None, False

    def picked(self, images: ImageSet, features: Features, name: str) -> ImageSet:
        """Those of the set, by number, under its own class names; others are refused."""
        numbers = features.train_numbers, features.target_numbers
        parts = images.train, images.targets
        there = all(len(n) and n.max() < len(part) for n, part in zip(numbers, parts, strict=True))
        chosen = images.chosen(*numbers) if there else images
        if images_digest(chosen) != self.sha256:
            raise BadInputError(
                f"{name} does not hold the images that the models of this set were trained on: their checksum is not "
                "that of its manifest; name a copy of CIFAR-10 in source.images."
            )
        return replace(chosen, class_names=features.labels.class_names)
