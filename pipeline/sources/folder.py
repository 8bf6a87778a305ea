"""A folder on this disk: one that `datamodels-inf train` made, or one in a layout of MadryLab's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import BadInputError
from pipeline.sources.array_files import Files
from pipeline.sources.base import MIRRORS, Arrived, SourceKind
from pipeline.sources.trained import bring_files, completed_file, content_of_files, trained_files

if TYPE_CHECKING:
    from pipeline.config import Config, Source
    from pipeline.stages.base import Run

CONTENT = "the content of the files enters instead"


def find_files(source: Source) -> Files:
    """The files in `source.folder`."""
    folder = source.folder
    if folder is None or not folder.is_dir():
        raise BadInputError(f"source.folder {folder} is not a folder; name the one that holds the masks and margins.")
    if (folder / "manifest.json").is_file():
        return trained_files(folder, source.images)
    return _released_files(folder, source)


def _released_files(folder: Path, source: Source) -> Files:
    """MadryLab's layouts: [cifar/]data/train_masks_50pct.npy and test_margins_50pct.npy, as released; or masks.npy and
    margins.npy, as the trainer leaves them, with _completed.npy.
    """
    released = f"train_masks_{source.percent}pct.npy", f"test_margins_{source.percent}pct.npy"
    for names in (released, ("masks.npy", "margins.npy")):
        for place in (folder, folder / "data", folder / "cifar" / "data"):
            masks, margins = (place / name for name in names)
            if masks.is_file() and margins.is_file():
                return Files(masks, margins, None, source.images, completed=completed_file(place))
    raise BadInputError(
        f"source.folder {folder} holds no {released[0]} with {released[1]}, no masks.npy with margins.npy, nor a set "
        "made by datamodels-inf train."
    )


def _trained(source: Source) -> Path | None:
    made = source.folder is not None and (source.folder / "manifest.json").is_file()
    return source.folder if made else None


def _problem(source: Source) -> str:
    return "source.folder must name a folder when source.kind is 'files'" if source.folder is None else ""


def _content(config: Config) -> dict[str, Any]:
    return content_of_files(find_files(config.source))


def _bring(run: Run) -> Arrived:
    return bring_files(run, find_files(run.config.source))


SOURCE = SourceKind(
    "files",
    "a folder on this disk",
    ("folder", "percent", "images", "mirrors"),
    _content,
    _bring,
    left_out={"folder": CONTENT, "percent": CONTENT, "images": CONTENT, **MIRRORS},
    problem=_problem,
    trained=_trained,
)
