"""What a kind of source is, and what it brings: the contract between SOURCES and the download stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import BadInputError
from pipeline.images.item_names import ItemNames
from pipeline.store.identity import identity
from pipeline.summaries import DownloadSummary

if TYPE_CHECKING:  # The configuration asks SOURCES which kinds there are, so it cannot be imported here.
    from pipeline.config import Config, Source
    from pipeline.images.image_set import ImageSet, Labels
    from pipeline.sources.opened import Opened
    from pipeline.stages.base import Run


MIRRORS = {"mirrors": "where CIFAR-10 is looked for; its checksum is the same everywhere"}
"""Of kinds that look for CIFAR-10, what does not enter the key."""


@dataclass(frozen=True)
class Arrived:
    """Rows that are in the store, and their images or the file or folder of these, if there are any.

    labels: what the source itself knows of classes, for where there are no images. names: of single images and targets.
    """

    rows: DownloadSummary
    images: Path | ImageSet | None
    labels: Labels | None = None
    names: ItemNames = field(default_factory=ItemNames)


def content_of_images(path: Path | None) -> Any:
    """What tells the content of a file or folder of images or labels from another; None where none is given."""
    if path is None:
        return None
    if not path.exists():
        raise BadInputError(f"{path} does not exist; give a folder or file of images or labels.")
    return identity(path)


def contents(files: Iterable[tuple[str, Path | None]]) -> dict[str, Any]:
    """ "content of <name>" → checksum of the file; None is no file."""
    found: dict[str, Any] = {}
    for name, path in files:
        if path is not None:
            if not path.exists():
                raise BadInputError(f"{path} does not exist; the source is not complete.")
            found[f"content of {name}"] = identity(path)
    return found


def _no_problem(source: Source) -> str:
    return ""


def _no_weights(source: Source) -> bool:
    return False


def _not_trained_here(source: Source) -> Path | None:
    return None


def _always_labelled(source: Source) -> bool:
    return True


def _fetches_nothing(config: Config) -> tuple[str, ...]:
    return ()


def _not_at_hand(source: Source) -> Opened | None:
    return None


@dataclass(frozen=True)
class SourceKind:
    """One kind of source.

    title: in a few words. settings: those of `[source]` that are of this kind; a setting that no kind claims is of all.
    left_out: which of them do not enter the stage's key as they stand, with the reason. content: what enters instead,
    known before a row is read. bring: puts the rows into the store. problem: what is wrong with `[source]`, or nothing.
    brings_weights: whether weights come with it. trained: the folder that `train` made, if it is one. labelled: whether
    classes come with it, or with what `[source]` names. open: its rows, where they are on this disk; None otherwise.
    fetched: otherwise, the addresses of what would be fetched: masks, margins and, if they are needed, weights.
    """

    name: str
    title: str
    settings: tuple[str, ...]
    content: Callable[[Config], dict[str, Any]]
    bring: Callable[[Run], Arrived]
    left_out: Mapping[str, str] = field(default_factory=dict)
    problem: Callable[[Source], str] = _no_problem
    brings_weights: Callable[[Source], bool] = _no_weights
    trained: Callable[[Source], Path | None] = _not_trained_here
    labelled: Callable[[Source], bool] = _always_labelled
    open: Callable[[Source], Opened | None] = _not_at_hand
    fetched: Callable[[Config], tuple[str, ...]] = _fetches_nothing
