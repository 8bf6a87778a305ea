"""What is known of training images and targets beside their numbers: classes, names, pictures; all optional."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints, check_iterable
from datamodels_inf.internal.column_names import column_names, find_column

Part: TypeAlias = Literal["train", "target"]
PARTS: tuple[Part, Part] = ("train", "target")


@dataclass(frozen=True, eq=False)
class Items:
    """labels: of each part the classes, as places in `class_names`, or None. names, images: of each part, or None."""

    n_train: int
    n_targets: int
    class_names: tuple[str, ...] = ()
    labels: tuple[Ints | None, Ints | None] = (None, None)
    names: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)
    images: tuple[NDArray[np.uint8] | None, NDArray[np.uint8] | None] = (None, None)

    @classmethod
    def of(cls, n_train: int, n_targets: int, *, labels: Any = None, names: Any = None, images: Any = None) -> Items:
        """Each given for the training images, or as a pair (of the training images, of the targets)."""
        counts = n_train, n_targets
        words = [_labels(part, of, n) for part, of, n in zip(PARTS, _both("labels", labels), counts, strict=True)]
        known = [word for word in words if word is not None]
        class_names, codes = np.unique(np.concatenate(known), return_inverse=True) if known else (np.array([]), None)
        both: list[Ints | None] = [None, None]
        start = 0
        for k, word in enumerate(words):
            if word is not None and codes is not None:
                both[k] = codes[start : start + len(word)].astype(np.int64)
                start += len(word)
        return cls(
            n_train,
            n_targets,
            tuple(map(str, class_names.tolist())),
            (both[0], both[1]),
            _of_both(_names, _both("names", names), counts),
            _of_both(_images, _both("images", images), counts),
        )

    @property
    def noun(self) -> str:
        """What is trained on: "image" where both parts have pictures, else "item"."""
        return "item" if any(part is None for part in self.images) else "image"

    def class_of(self, part: str, index: int) -> str:
        """The class of an item; empty where it is not known."""
        labels = self.labels[PARTS.index(part)]
        return "" if labels is None else self.class_names[int(labels[index])]

    def name_of(self, part: str, index: int) -> str:
        """Its name; empty where it has none."""
        names = self.names[PARTS.index(part)]
        return "" if names is None else names[index]

    def called(self, part: str, index: int, article: str = "this ") -> str:
        """For a sentence: "bmi", "this dog (train 12)", or without pictures "item 12" and "target 3"."""
        label = self.class_of(part, index)
        words = f"{article}{label} ({part} {index})" if label else f"{self.noun if part == 'train' else part} {index}"
        return self.name_of(part, index) or words

    def find(self, part: str, item: int | str) -> int:
        """The number of an item that is given by number or by name."""
        count = self.n_train if part == "train" else self.n_targets
        what = f"training {self.noun}" if part == "train" else "target"
        if isinstance(item, str):
            return find_column(item, self.names[PARTS.index(part)], what)
        if isinstance(item, (bool, np.bool_)) or not isinstance(item, (int, np.integer)) or not 0 <= item < count:
            raise ValueError(f"there is no {what} {item!r}: they go from 0 to {count - 1}.")
        return int(item)

    @property
    def train_labels(self) -> Ints | None:
        """Classes of the training images, for the check of the masks."""
        return self.labels[0]


def _both(name: str, given: Any) -> tuple[Any, Any]:
    """(of the training images, of the targets): a tuple of two is both, anything else the first."""
    if isinstance(given, tuple) and len(given) == 2 and all(one is None or np.ndim(one) > 0 for one in given):
        return given
    if isinstance(given, dict):
        if not given.keys() <= {"train", "targets"}:
            raise ValueError(f'`{name}` must have the keys "train" and "targets", but it has {sorted(given)}.')
        return given.get("train"), given.get("targets")
    return given, None


def _of_both(read: Any, given: tuple[Any, Any], counts: tuple[int, int]) -> Any:
    return tuple(None if of is None else read(part, of, n) for part, of, n in zip(PARTS, given, counts, strict=True))


def _labels(part: Part, given: Any, count: int) -> NDArray[Any] | None:
    """Whole numbers keep their order among classes: 2 before 10."""
    if given is None:
        return None
    array = np.asarray(given)
    if array.shape != (count,) or array.dtype.kind not in "iubUOST":
        raise ValueError(
            f"`labels` of the {_words(part)} must be {count} whole numbers or names, but it is {array.dtype} of shape "
            f"{array.shape}."
        )
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if any(label is None or label != label for label in array.tolist()):
        raise ValueError(f"`labels` of the {_words(part)} must be known of all of them, but one is None or NaN.")
    return np.array([str(label) for label in array.tolist()])


def _names(part: Part, given: Any, count: int) -> tuple[str, ...]:
    what = f"of the {_words(part)} {count} texts"
    names: Sequence[str] | None = column_names(given) or tuple(map(str, check_iterable("names", given, what)))
    if names is None or len(names) != count:
        raise ValueError(f"`names` of the {_words(part)} must be {count} texts, but there are {len(names or ())}.")
    return tuple(names)


def _images(part: Part, given: Any, count: int) -> NDArray[np.uint8]:
    """Bytes as they are; floats from 0 to 1 become bytes."""
    array = np.asarray(given)
    if len(array.shape) == 4 and array.shape[3] == 1:
        array = array[:, :, :, 0]
    if array.ndim not in (3, 4) or array.shape[3:] not in ((), (3,)) or len(array) != count or array.size == 0:
        raise ValueError(
            f"`images` of the {_words(part)} must have shape ({count}, H, W) or ({count}, H, W, 3), but it is "
            f"{array.shape}."
        )
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind == "f" and array.min() >= 0.0 and array.max() <= 1.0:
        return np.rint(array * 255.0).astype(np.uint8)
    raise ValueError(
        f"`images` of the {_words(part)} must be uint8 from 0 to 255, or floats from 0 to 1, but they are "
        f"{array.dtype} from {array.min():g} to {array.max():g}."
    )


def _words(part: Part) -> str:
    return "training images" if part == "train" else "targets"
