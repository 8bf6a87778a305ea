"""From the section `[train]` to a job of the user's own function, and the files that its set will hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels
from pipeline.sources.layouts.own_folder import without_labels
from pipeline.sources.subsets_file import SUBSETS_FILE, read_subsets
from pipeline.text.given_names import one_line
from pipeline.training.function_job import FunctionJob
from pipeline.training.function_work import RETRIES, FunctionTraining
from pipeline.training.own_function import OwnFunction
from pipeline.training.settings import Train
from pipeline.training.supplies import IMAGE_FILE, OwnItems

LABEL_FILE = "labels.npz"
OURS = ("lists", "completed", "seeds")
"""Keys of subsets.json about masks and rows, which are made here."""


def function_supplies(train: Train, folder: Path) -> OwnItems:
    """Of `train.function`, imported from `folder`; labels and images are checked against the numbers of items."""
    assert train.function is not None
    for name, option in (("n_train", "--train"), ("n_targets", "--targets")):
        if name not in train.model_fields_set:
            raise BadInputError(f"--function needs {option} N: nobody here knows how many it has (train.{name}).")
    found = OwnFunction.find(train.function, folder)
    found.check_arguments()
    files = dict(_files(train))
    job = FunctionJob(
        function=train.function,
        source_sha256=found.sha256,
        n_train=train.n_train,
        n_targets=train.n_targets,
        n_models=train.n_models,
        seed=train.seed,
        proportion=train.proportion,
        law=train.law,
        files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    )
    retries = RETRIES if train.retries is None else train.retries
    return OwnItems(FunctionTraining(job, found.folder, retries, train.repeatable is not False), files)


def _files(train: Train) -> Iterator[tuple[str, bytes]]:
    said: dict[str, Any] = {}
    if train.labels is not None:
        _check_there(train.labels, "--labels")
        if train.labels.suffix == ".json":
            said = _said(train.labels, train)
        else:
            _check_labels(Labels.load(train.labels), train.labels, train)
            yield LABEL_FILE, train.labels.read_bytes()
    if train.images is not None:
        _check_there(train.images, "--images")
        if train.images.is_dir():
            raise BadInputError(f"--images {train.images} is a folder; of a function's items, give an .npz file.")
        load = ImageSet.load_pictures if without_labels(train.images) else ImageSet.load
        pictures = load(train.images)
        _check_counts(train.images, "images", (len(pictures.train), len(pictures.targets)), train)
        yield IMAGE_FILE, train.images.read_bytes()
    own = {"n_train": train.n_train, "outcome": train.outcome, "higher_is_better": train.higher_is_better}
    said |= {name: value for name, value in own.items() if value is not None}
    yield SUBSETS_FILE, (json.dumps(said, ensure_ascii=False) + "\n").encode()


def _said(path: Path, train: Train) -> dict[str, Any]:
    """Labels and names of a file like subsets.json."""
    subsets = read_subsets(path)
    given = subsets.model_dump(mode="json", exclude_none=True)
    if ours := next((name for name in OURS if name in given), None):
        raise BadInputError(f"--labels {path} has {ours}, which is said of masks that are drawn here; leave it out.")
    if given.get("n_train", train.n_train) != train.n_train:
        raise BadInputError(f"--labels {path} has n_train {given['n_train']:,}, but there are {train.n_train:,} items.")
    labels = subsets.labels(path)
    if labels is not None:
        _check_labels(labels, path, train)
    for name, count in (("train_names", train.n_train), ("target_names", train.n_targets)):
        if len(given.get(name, range(count))) != count:
            raise BadInputError(f"--labels {path} has {len(given[name]):,} {name}, but there are {count:,}.")
    return given


def _check_there(path: Path, option: str) -> None:
    if not path.exists():
        raise BadInputError(f"{option} {one_line(str(path))} does not exist.")


def _check_labels(labels: Labels, path: Path, train: Train) -> None:
    _check_counts(path, "labels", (len(labels.train_labels), len(labels.target_labels)), train)


def _check_counts(path: Path, what: str, counts: tuple[int, int], train: Train) -> None:
    if counts != (train.n_train, train.n_targets):
        raise BadInputError(
            f"{path} has {what} of {counts[0]:,} items and {counts[1]:,} targets, but there are {train.n_train:,} and "
            f"{train.n_targets:,} (--train, --targets)."
        )
