"""MadryLab's two layouts: arrays as they were released, and as their trainer leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.sources.array_files import Files, open_files
from pipeline.sources.layouts.base import PLACES, Layout, folder_of, there
from pipeline.sources.trained import completed_file, content_of_files

if TYPE_CHECKING:
    from pipeline.config import Source


def _arrays(folder: Path, masks: str, margins: str) -> tuple[Path, Path] | None:
    """The two files, in the first place of the folder that has both."""
    for place in PLACES:
        found = folder / place / masks, folder / place / margins
        if all(path.is_file() for path in found):
            return found
    return None


def released_files(source: Source) -> Files | None:
    """train_masks_50pct.npy and test_margins_50pct.npy, as released."""
    names = f"train_masks_{source.percent}pct.npy", f"test_margins_{source.percent}pct.npy"
    found = _arrays(folder_of(source), *names)
    if found is None:
        return None
    return Files(*found, None, source.images, completed=completed_file(found[0].parent), nan_rows=True)


def trainer_files(source: Source) -> Files | None:
    """masks.npy, margins.npy and _completed.npy, as the trainer leaves them; its regression's weights lie beside."""
    found = _arrays(folder_of(source), "masks.npy", "margins.npy")
    if found is None:
        return None
    weights = there(folder_of(source) / "reg_results" / "datamodels.pt")
    completed = completed_file(found[0].parent)
    return Files(*found, None, source.images, completed=completed, nan_rows=True, weights=weights)


def _layout(name: str, title: str, files: str, find: FindFiles) -> Layout:
    def must(source: Source) -> Files:
        found = find(source)
        assert found is not None  # `found` is asked first.
        return found

    return Layout(
        name,
        title,
        files,
        lambda source: find(source) is not None,
        lambda source: content_of_files(must(source)),
        lambda source: open_files(must(source)),
        lambda source: source.images is not None,
    )


if TYPE_CHECKING:
    from collections.abc import Callable

    FindFiles = Callable[[Source], Files | None]

RELEASED = _layout(
    "released",
    "as MadryLab released them",
    "train_masks_{percent}pct.npy with test_margins_{percent}pct.npy",
    released_files,
)
TRAINER = _layout("trainer", "as MadryLab's trainer leaves them", "masks.npy with margins.npy", trainer_files)
