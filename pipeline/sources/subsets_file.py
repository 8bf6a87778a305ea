"""subsets.json: what arrays of masks and outcomes cannot say of themselves. Every key is optional, no other is known.

n_train            how many training images there are
lists              what indices.npy lists: the images "included" in a mask, or those "excluded" from it
outcome            what the outcomes are, in a word: "margin", "loss", "accuracy"
higher_is_better   whether models are trained for large outcomes; else by the name (`higher_is_better_by_name`)
completed          a boolean for each row: whether its model was trained to its end
seeds              a whole number for each row: one mask may then stand in several rows, and these are averaged
train_labels, target_labels, class_names     classes, as numbers from 0 or as names
train_names, target_names                    what single images and targets are called
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames
from pipeline.settings.base import Section
from pipeline.text.given_names import one_line
from pipeline.text.json_file import read_json

SUBSETS_FILE = "subsets.json"

Whole = Annotated[int, Field(strict=True)]
Text = Annotated[str, Field(strict=True, min_length=1)]
Flag = Annotated[bool, Field(strict=True)]
ClassNumber = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
MOST_IMAGES = 100_000_000
"""Training images of a set: a mask of these is 12.5 MB of bits, and all is made for some millions."""


class Subsets(Section):
    """The keys of subsets.json; None for what it does not say."""

    n_train: Annotated[int, Field(ge=2, le=MOST_IMAGES, strict=True)] | None = None
    lists: Literal["included", "excluded"] | None = None
    outcome: Annotated[str, Field(strict=True, min_length=1, max_length=40)] | None = None
    higher_is_better: Flag | None = None
    completed: list[Flag] | None = None
    seeds: list[Whole] | None = None
    train_labels: list[ClassNumber] | list[Text] | None = None
    target_labels: list[ClassNumber] | list[Text] | None = None
    class_names: list[Text] | None = None
    train_names: list[Text] | None = None
    target_names: list[Text] | None = None

    def names(self) -> ItemNames:
        """Of single images and targets."""
        return ItemNames(tuple(self.train_names or ()), tuple(self.target_names or ()))

    def labels(self, path: Path) -> Labels | None:
        """Classes of both training images and targets; None where there are none."""
        if self.train_labels is None and self.target_labels is None:
            if self.class_names is not None:
                raise BadInputError(f"{path}: class_names is of no use without train_labels and target_labels.")
            return None
        if self.train_labels is None or self.target_labels is None:
            missing = "train_labels" if self.train_labels is None else "target_labels"
            raise BadInputError(f"{path}: {missing} is missing; classes of training images and targets go together.")
        both = [*self.train_labels, *self.target_labels]
        by_name = not self.class_names
        if by_name and len({type(label) for label in both}) > 1:
            raise BadInputError(
                f"{path}: labels are numbers in one of train_labels and target_labels and names in the other; use one "
                "of the two, or give class_names, in the order of the numbers."
            )
        names = self.class_names or _class_names(both)
        if len(set(names)) < len(names):
            ((twice, _),) = Counter(names).most_common(1)
            raise BadInputError(f'{path}: class_names has "{one_line(twice)}" twice; classes need different names.')
        place = {name: k for k, name in enumerate(names)}
        try:
            train, targets = (
                np.array([k if isinstance(k, int) and not by_name else _place(place, str(k)) for k in labels], np.int64)
                for labels in (self.train_labels, self.target_labels)
            )
            return Labels(train, targets, tuple(names))
        except ValueError as error:
            raise BadInputError(f"{path}: labels and class_names do not fit together ({error}).") from error


def _class_names(labels: Sequence[int | str]) -> list[str]:
    """Of names, those in the order of the alphabet; of numbers, "0", "1", …, those that occur."""
    different = set(labels)
    numbers = sorted(label for label in different if isinstance(label, int))
    return [str(k) for k in numbers] or sorted(map(str, different))


def _place(places: Mapping[str, int], name: str) -> int:
    if name not in places:
        raise ValueError(f'"{one_line(name)}" is none of class_names')
    return places[name]


def read_subsets(path: Path) -> Subsets:
    """The file, if it is there; what it must not say is refused by the key's name."""
    if not path.is_file():
        return Subsets()
    found = read_json(path)
    if isinstance(found, list):
        raise BadInputError(
            f"{path} holds a list, and not an object with keys such as n_train; if it is Bergson's list of left-out "
            "items, convert it: datamodels-inf import --from bergson."
        )
    try:
        return Subsets.model_validate(found)
    except ValidationError as error:
        raise BadInputError(f"{path}: {_sentence(error)}.") from error


def _sentence(error: ValidationError) -> str:
    """The first problem, in the words of the file."""
    problem = error.errors()[0]
    key = str(problem["loc"][0]) if problem["loc"] else "it"
    if problem["type"] == "extra_forbidden":
        return f"{one_line(key)} is not a key; allowed are {', '.join(Subsets.model_fields)}"
    place = next((f", entry {part}" for part in problem["loc"][1:] if isinstance(part, int)), "")
    message = str(problem["msg"])
    return f"{key}{place}: {message[0].lower()}{message[1:]}"
