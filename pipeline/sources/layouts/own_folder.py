"""A folder of one's own: outcomes.npy with masks.npy, or with lists of images, and what subsets.json says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.outcomes import higher_is_better_by_name
from pipeline.arrays import open_array, open_npz
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels
from pipeline.sources.array_files import read_completed
from pipeline.sources.base import contents
from pipeline.sources.layouts.base import Layout, folder_of, there
from pipeline.sources.mask_rows import ListedRows, MaskRows, NumberRows, PackedRows, largest_index, names_image_0
from pipeline.sources.opened import Opened, finished_rows
from pipeline.sources.outcome_rows import OutcomeRows
from pipeline.sources.subsets_file import MOST_IMAGES, SUBSETS_FILE, Subsets, read_subsets
from pipeline.text.given_names import outcome_name
from pipeline.text.numbers import human_bytes

if TYPE_CHECKING:
    from pipeline.config import Source

Counted: TypeAlias = tuple[int, str]
MOST_BYTES = 64 * 10**9
"""Of masks as bits, where they are made of lists: 300,000 models of 1,700,000 images."""
GAPS = 100
"""An index that is larger than so many times the entries of all lists tells nothing about how many images there are."""
OUTCOMES = ("outcomes.npy", "margins.npy")
"""The second only beside a subsets.json: without one, it is MadryLab's layout."""


@dataclass(eq=False)
class OwnFolder:
    """A folder with a subsets.json, or without; `images` are taken instead of its own.

    Arrays of another format may stand in the place of its own: `lists` and `outcomes`, with the files they are from.
    outcome, higher_is_better: what they are where subsets.json does not say, with the words that say so. said: what was
    assumed while it was opened.
    """

    folder: Path
    images: Path | None = None
    lists: NDArray[Any] | None = None
    outcomes: OutcomeRows | None = None
    files: tuple[Path, ...] = ()
    outcome: str = "outcome"
    higher_is_better: bool | None = None
    words: str = 'outcome: called "outcome"; subsets.json can name it (margin, loss, accuracy, …)'
    said: list[str] = field(default_factory=list, init=False)

    @cached_property
    def subsets(self) -> Subsets:
        """What subsets.json says."""
        return read_subsets(self.folder / SUBSETS_FILE)

    def read_files(self) -> dict[str, Path | None]:
        """All that is read, by the name under which its content enters the key."""
        outcomes = [self.folder / name for name in OUTCOMES if (self.folder / name).is_file()] if not self.files else []
        if len(outcomes) > 1:
            raise BadInputError(f"{self.folder} holds outcomes.npy and margins.npy; keep one of them.")
        arrays = [] if self.files else [self.folder / name for name in ("masks.npy", "indices.npy", "indptr.npy")]
        own = [*self.files, *outcomes, *arrays, self.folder / "_completed.npy", self.folder / SUBSETS_FILE]
        found: dict[str, Path | None] = {path.stem.strip("_"): there(path) for path in own}
        found["labels.npz"] = there(self.folder / "labels.npz")
        found["images"] = self.images or there(self.folder / "images.npz")
        return found

    def content(self) -> dict[str, Any]:
        """For the key; what a name is taken to mean is ours to say, and not in any file."""
        given, found = self.subsets, contents(self.read_files().items())
        if given.outcome is not None and given.higher_is_better is None:
            found["higher_is_better by name"] = higher_is_better_by_name(given.outcome)
        return found

    def open(self) -> Opened:
        """All of it, checked but for the values of rows."""
        self.said.clear()
        files = self.read_files()
        outcomes = self.outcomes or _outcomes(files["outcomes"] if files.get("outcomes") else files.get("margins"))
        labels = self._labels(files["labels.npz"])
        images, labels = self._pictures(files["images"], labels)
        masks, name = self._masks(files, self._counted(labels, images))
        if masks.n_models != outcomes.n_models:
            raise BadInputError(
                f"{outcomes.name} has {outcomes.n_models:,} rows, but {name} has {masks.n_models:,}; there must be one "
                f"for each model in both{_turned(masks, name, outcomes)}."
            )
        self._check_counts(masks, outcomes, labels)
        completed, where = self._completed(files["completed"], masks.n_models)
        finished, left_out = finished_rows(masks.n_models, completed, outcomes.missing_rows(), where, outcomes.name)
        outcome, higher = self._outcome(outcomes.name)
        return Opened(
            name, masks, outcomes, finished, left_out, images, labels, self.subsets.names(), outcome, higher,
            tuple(self.said), repeated=self.subsets.seeds is not None,
        )  # fmt: skip

    def labelled(self) -> bool:
        """Whether classes are known; of pictures alone they are not."""
        images = self.images or there(self.folder / "images.npz")
        pictures = images is not None and (images.suffix != ".npz" or not without_labels(images))
        return self.subsets.train_labels is not None or (self.folder / "labels.npz").is_file() or pictures

    def _counted(self, labels: Labels | None, images: Path | ImageSet | None) -> Counted | None:
        """What there is one of for each training image."""
        if labels is not None:
            return len(labels.train_labels), "labels"
        if self.subsets.train_names is not None:
            return len(self.subsets.train_names), "names"
        return (len(images.train), "pictures") if isinstance(images, ImageSet) else None

    def _masks(self, files: dict[str, Path | None], counted: Counted | None) -> tuple[MaskRows, str]:
        masks, indices = files.get("masks"), files.get("indices")
        if self.lists is not None:
            return self._listed(str(self.files[0]), self.lists, None, counted), str(self.files[0])
        if masks is not None and indices is not None:
            raise BadInputError(f"{self.folder} holds both masks.npy and indices.npy; keep one of them.")
        if files.get("indptr") is not None and indices is None:
            raise BadInputError(f"{self.folder} holds indptr.npy, but not the indices.npy whose lists it divides.")
        if masks is not None:
            if self.subsets.lists is not None:
                raise BadInputError(f"{self.folder / SUBSETS_FILE}: lists is for indices.npy, but there is masks.npy.")
            return self._dense(masks), str(masks)
        if indices is None:
            raise BadInputError(f"{self.folder} holds outcomes, but neither masks.npy nor indices.npy.")
        return self._listed(str(indices), open_array(indices), files.get("indptr"), counted), str(indices)

    def _dense(self, path: Path) -> MaskRows:
        array, n_train = open_array(path), self.subsets.n_train
        if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
            raise BadInputError(
                f"{path} must hold one row a model and one column an image, as bool or as 0 and 1, but it holds "
                f"{array.dtype} of shape {array.shape}."
            )
        if n_train is not None and array.dtype == np.uint8 and array.shape[1] == (n_train + 7) // 8:
            self.said.append(f"masks: packed bits, {array.shape[1]:,} bytes a row for n_train {n_train:,}")
            return PackedRows(str(path), array, n_train)
        if n_train is not None and array.shape[1] != n_train:
            raise BadInputError(
                f"{path} has {array.shape[1]:,} columns, but n_train in {SUBSETS_FILE} is {n_train:,}; as packed bits "
                f"it would be uint8 with {(n_train + 7) // 8:,}."
            )
        return NumberRows(str(path), array)

    def _listed(self, name: str, array: NDArray[Any], indptr: Path | None, counted: Counted | None) -> ListedRows:
        if array.dtype.kind not in "iu" or array.ndim != (1 if indptr else 2):
            shape = "one row of numbers, with indptr.npy" if indptr else "(models, images), or one row with indptr.npy"
            raise BadInputError(
                f"{name} must hold whole numbers of shape {shape}, but it holds {array.dtype} of shape {array.shape}."
            )
        bounds = _bounds(name, array, indptr)
        flat = array.reshape(-1)
        if self.subsets.lists is None and self.lists is None:
            self.said.append(
                'lists: taken as those included in a mask; "lists": "excluded" in subsets.json says otherwise'
            )
        if len(flat) and not names_image_0(flat):
            self.said.append("image 0 is in no list: do the lists count from 1? Images count from 0: then subtract 1")
        n_train = self._n_train(flat, counted)
        self._refuse_bits(len(bounds) - 1, n_train)
        return ListedRows(name, flat, bounds, n_train, self.subsets.lists != "excluded")

    def _refuse_bits(self, n_models: int, n_train: int) -> None:
        """Lists are short where sets are large, but masks are not: they must fit somewhere."""
        if n_models * n_train > 8 * MOST_BYTES:
            raise BadInputError(
                f"{self.folder}: masks of {n_models:,} models of {n_train:,} images are "
                f"{human_bytes(n_models * n_train / 8)} of bits, more than {human_bytes(MOST_BYTES)}; correct n_train "
                f"in {SUBSETS_FILE}, or take fewer models."
            )

    def _n_train(self, indices: NDArray[Any], counted: Counted | None) -> int:
        """Given, or as many as there are labels, names or pictures, or by the largest index."""
        if self.subsets.n_train is not None:
            return self.subsets.n_train
        if counted is not None:
            self.said.append(f"n_train {counted[0]:,}: as many as there are {counted[1]}")
            return counted[0]
        largest = largest_index(indices)
        if largest < 1:
            raise BadInputError(f"{self.folder}: the lists name too few images; give n_train in {SUBSETS_FILE}.")
        if largest >= min(GAPS * len(indices), MOST_IMAGES):
            raise BadInputError(
                f"{self.folder}: the largest index is {largest:,}, but the lists have {len(indices):,} entries in all, "
                f"so that it may be a mistake; if it is none, say n_train in {SUBSETS_FILE} (import: --n-train), at "
                f"most {MOST_IMAGES:,}."
            )
        self.said.append(
            f"n_train {largest + 1:,}: the largest index is {largest:,}; if later images are in no list, give n_train "
            f"in {SUBSETS_FILE}"
        )
        return largest + 1

    def _labels(self, path: Path | None) -> Labels | None:
        labels = self.subsets.labels(self.folder / SUBSETS_FILE)
        if path is None:
            return labels
        if labels is not None:
            raise BadInputError(f"{self.folder} has labels in {SUBSETS_FILE} and in labels.npz; keep one of them.")
        return Labels.load(path)

    def _pictures(self, path: Path | None, labels: Labels | None) -> tuple[Path | ImageSet | None, Labels | None]:
        """(images, labels): those of subsets.json or labels.npz before those of the images."""
        if path is None or path.suffix != ".npz":
            return path, labels
        pictures = ImageSet.load_pictures(path) if without_labels(path) else ImageSet.load(path)
        if labels is None:
            return pictures, pictures.known_labels
        counts = len(labels.train_labels), len(labels.target_labels)
        if counts != (len(pictures.train), len(pictures.targets)):
            raise BadInputError(
                f"{path} has {len(pictures.train):,} training and {len(pictures.targets):,} target images, but there "
                f"are labels of {counts[0]:,} and {counts[1]:,}."
            )
        train, targets = labels.train_labels, labels.target_labels
        return ImageSet(pictures.train, train, pictures.targets, targets, labels.class_names), labels

    def _check_counts(self, masks: MaskRows, outcomes: OutcomeRows, labels: Labels | None) -> None:
        """That labels, names and seeds are as many as what they are of."""
        given = self.subsets
        n_models, n_train, n_targets = masks.n_models, masks.n_train, outcomes.n_targets
        path = self.folder / SUBSETS_FILE
        parts: list[tuple[Path | str, str, Sequence[Any] | None, int, str]] = [
            (path, "completed", given.completed, n_models, "models"),
            (path, "seeds", given.seeds, n_models, "models"),
            (path, "train_names", given.train_names, n_train, "training images"),
            (path, "target_names", given.target_names, n_targets, "targets"),
        ]
        if labels is not None:
            train, targets = labels.train_labels.tolist(), labels.target_labels.tolist()
            parts += [(self.folder, "train_labels", train, n_train, "training images")]
            parts += [(self.folder, "target_labels", targets, n_targets, "targets")]
        for where, name, values, count, what in parts:
            if values is not None and len(values) != count:
                raise BadInputError(f"{where}: {name} has {len(values):,} entries, but there are {count:,} {what}.")

    def _completed(self, path: Path | None, n_models: int) -> tuple[NDArray[np.bool_] | None, str]:
        given = self.subsets.completed
        if path is not None and given is not None:
            raise BadInputError(f"{self.folder} says in {SUBSETS_FILE} and in {path.name} what is completed; keep one.")
        if given is not None:
            return np.array(given, np.bool_), f"completed in {self.folder / SUBSETS_FILE}"
        return (None, "") if path is None else (read_completed(path, n_models), str(path))

    def _outcome(self, name: str) -> tuple[str, bool]:
        """(what outcomes are, whether larger ones are better), given or assumed."""
        given = self.subsets
        outcome = given.outcome or ("margin" if Path(name).name == "margins.npy" else self.outcome)
        if given.outcome is None and Path(name).name != "margins.npy":
            self.said.append(self.words)
        if given.higher_is_better is not None:
            return outcome, given.higher_is_better
        if given.outcome is None and self.higher_is_better is not None:
            return outcome, self.higher_is_better
        higher = higher_is_better_by_name(outcome)
        why = "assumed of" if higher else "by the name"
        self.said.append(f'higher_is_better {str(higher).lower()}: {why} "{outcome_name(outcome)}"')
        return outcome, higher


def _outcomes(path: Path | None) -> OutcomeRows:
    assert path is not None  # The layout was found by it.
    array = open_array(path)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise BadInputError(
            f"{path} must hold real numbers, one row a model and one column a target, but it holds {array.dtype} of "
            f"shape {array.shape}."
        )
    return OutcomeRows(str(path), array.reshape(len(array), -1))


def _bounds(name: str, array: NDArray[Any], indptr: Path | None) -> NDArray[np.int64]:
    """Where each list begins, and where the last ends."""
    if indptr is None:
        return np.asarray(np.arange(len(array) + 1, dtype=np.int64) * array.shape[1])
    bounds = open_array(indptr)
    if bounds.ndim != 1 or bounds.dtype.kind not in "iu" or len(bounds) < 2:
        raise BadInputError(
            f"{indptr} must hold where each list begins and where the last ends, but it holds {bounds.dtype} of shape "
            f"{bounds.shape}."
        )
    ends: NDArray[np.int64] = bounds.astype(np.int64)
    if ends[0] != 0 or ends[-1] != len(array) or (np.diff(ends) < 0).any():
        raise BadInputError(
            f"{indptr} must rise from 0 to {len(array):,}, the number of entries of {name}, but it goes from "
            f"{ends[0]:,} to {ends[-1]:,}{' and falls in between' if (np.diff(ends) < 0).any() else ''}."
        )
    return ends


def without_labels(path: Path) -> bool:
    """Whether an .npz of images has no classes."""
    try:
        with open_npz(path) as stored:
            return "train" in stored and "train_labels" not in stored
    except (OSError, ValueError):
        return False  # Whatever is wrong with it, reading it says so.


def _turned(masks: MaskRows, name: str, outcomes: OutcomeRows) -> str:
    """A guess, where one of the two fits with its rows as columns."""
    if isinstance(masks, NumberRows) and masks.n_train == outcomes.n_models:
        return f" ({name} has as many columns: turned, by .T, it would fit)"
    if outcomes.n_targets == masks.n_models:
        return f" ({outcomes.name} has as many columns: turned, by .T, it would fit)"
    return ""


def _of(source: Source) -> OwnFolder:
    return OwnFolder(folder_of(source), source.images)


def _found(source: Source) -> bool:
    folder = folder_of(source)
    return (folder / OUTCOMES[0]).is_file() or ((folder / OUTCOMES[1]).is_file() and (folder / SUBSETS_FILE).is_file())


LAYOUT = Layout(
    "own",
    "a folder of one's own",
    "outcomes.npy with masks.npy or indices.npy",
    _found,
    lambda source: _of(source).content(),
    lambda source: _of(source).open(),
    lambda source: _of(source).labelled(),
)
