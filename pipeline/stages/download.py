"""Stage 1, download: bring the configured source into the store."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels, load_cifar10
from pipeline.images.item_names import ItemNames
from pipeline.progress import working
from pipeline.sources import SOURCES
from pipeline.sources.base import content_of_images
from pipeline.sources.cifar10_images import stored_images
from pipeline.sources.row_split import rule_of
from pipeline.stages.base import Run, Stage
from pipeline.store.cache import Result
from pipeline.summaries import DownloadSummary, read_summary

VERSION = 4


def left_out(config: Config) -> dict[str, str]:
    """What makes no difference to the rows, and what enters by its content."""
    kind = SOURCES[config.source.kind]
    others = {name for other in SOURCES.values() for name in other.settings} - set(kind.settings)
    return {
        "test": "only which rows are for what, and that enters below",
        **dict.fromkeys(("atlas", "robustness", "report"), "rows do not depend on it"),
        "fit": "only which rows and columns are needed, and that enters as content of the source",
        "source.labels": "their content enters instead",
        **{f"source.{name}": reason for name, reason in kind.left_out.items()},
        **{f"source.{name}": "is for another kind of source" for name in sorted(others)},
        **dict.fromkeys(_of_the_other_way(config), f"is not for test.rows = {config.test.rows!r}"),
    }


def instead(config: Config) -> dict[str, Any]:
    """How rows are divided, the content of labels, and what the kind of source says of its own."""
    source = config.source
    labels = content_of_images(source.labels)
    rows = {"test.rows": config.test.rows, "rows by the rule for": rule_of(config)}
    return {**rows, "content of labels": labels, **SOURCES[source.kind].content(config)}


def _of_the_other_way(config: Config) -> tuple[str, ...]:
    """Numbers of rows that are not looked at."""
    return ("source.fit_rows", "source.held_out_rows") if config.test.progressive else ("source.first_rows",)


def run(run: Run) -> DownloadSummary:
    """Write masks, margins, images and labels, or point at where they are."""
    source = run.config.source
    arrived = SOURCES[source.kind].bring(run)
    counts = arrived.rows.n_train, arrived.rows.n_targets
    images = checked_images(arrived.images, counts)
    labels = checked_labels(source.labels, agreed_labels(images, arrived.labels), counts)
    if images is not None:
        keep_images(images, arrived.images, run)
    if labels is not None:
        labels.save(run.out / "labels.npz")
    named = arrived.names != ItemNames()
    if named:
        arrived.names.save(run.out / "names.json")
    if labels is None and "design" not in run.config.test.model_fields_set:
        targets = "all targets" if run.config.test.targets == "all" else "the given targets"
        run.say(f'no labels: nothing is drawn by class, so test.design is "{run.config.test.design}", on {targets}')
    more = {"has_images": images is not None, **({"has_names": True} if named else {})}
    return arrived.rows.model_copy(update=more)


def keep_images(images: ImageSet, found: Path | ImageSet | None, run: Run) -> None:
    """In the stage's folder; all of CIFAR-10 is in the store already, as the very file that would be written."""
    file = run.out / "images.npz"
    if found == stored_images(run.store):
        with suppress(OSError):  # Not every file system has links.
            file.hardlink_to(stored_images(run.store))
            return
    with working("download: keeping the images", run.quiet):
        images.save(file)


def stale(result: Result, store: Path) -> str:
    """A result that had to do without images is made again once they are in the store."""
    file = stored_images(store)
    if read_summary(result, DownloadSummary).awaits_images and file.is_file():
        return f"it was made without images, and now there is {file}"
    return ""


def checked_images(found: Path | ImageSet | None, wanted: tuple[int, int]) -> ImageSet | None:
    """The images, if there are any, checked against the `wanted` number of columns of masks and margins."""
    if isinstance(found, Path):
        name = str(found)
        found = ImageSet.load(found) if found.suffix == ".npz" else load_cifar10(found, *wanted)
    else:
        name = "the source"
    if found is not None:
        _check_counts(name, (len(found.train), len(found.targets)), wanted)
    return found


def agreed_labels(images: ImageSet | None, own: Labels | None) -> Labels | None:
    """Those of the images and those of the source itself: they judge the law of the masks, so they must agree."""
    known = None if images is None else images.known_labels
    if known is None or own is None:
        return known or own
    if _classes(known) != _classes(own):
        raise BadInputError(
            "the images of the source are of other classes than its labels say; mend one, or name source.labels."
        )
    return known


def _classes(labels: Labels) -> list[str]:
    both = np.concatenate([labels.train_labels, labels.target_labels])
    return [labels.class_names[k] for k in both.tolist()]


def checked_labels(path: Path | None, own: Labels | None, wanted: tuple[int, int]) -> Labels | None:
    """Those that are given, else those that the source has."""
    labels = own if path is None else Labels.load(path)
    if labels is not None:
        _check_counts(str(path or "the source"), (len(labels.train_labels), len(labels.target_labels)), wanted)
    return labels


def _check_counts(name: str, found: tuple[int, int], wanted: tuple[int, int]) -> None:
    if found != wanted:
        raise BadInputError(
            f"{name} has {found[0]} training and {found[1]} target images, but masks and outcomes are of "
            f"{wanted[0]} and {wanted[1]}; give the images of this data set."
        )


STAGE = Stage("download", VERSION, (), DownloadSummary, run, left_out, instead, stale=stale)
