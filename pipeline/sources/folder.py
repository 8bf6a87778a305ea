"""A folder on this disk, in one of the LAYOUTS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import BadInputError
from pipeline.sources.base import MIRRORS, Arrived, SourceKind
from pipeline.sources.imports import importer_of
from pipeline.sources.layouts import LAYOUTS, Layout
from pipeline.sources.opened import Opened
from pipeline.sources.trained import bring_opened
from pipeline.text.given_names import listed, one_line

if TYPE_CHECKING:
    from pipeline.config import Config, Source
    from pipeline.stages.base import Run

CONTENT = "the content of the files enters instead"
TABLES = (".csv", ".tsv", ".txt")
FROM_TABLE = 'of a table make an array: numpy.save("masks.npy", numpy.loadtxt("masks.csv", delimiter=","))'


def layout_of(source: Source) -> Layout:
    """The layout of `source.folder`; a folder of none is refused, with what would have been read."""
    folder = source.folder
    if folder is None or not folder.is_dir():
        raise BadInputError(f"source.folder {folder} is not a folder; name the one that holds the masks and outcomes.")
    for layout in LAYOUTS.values():
        if layout.found(source):
            return layout
    importer = importer_of(folder)
    if importer is not None:
        raise BadInputError(
            f"source.folder {folder} looks like {importer.title}, which needs more than reading: "
            f"{importer.command(folder)}."
        )
    known = ", no ".join(layout.files.format(percent=source.percent) for layout in LAYOUTS.values())
    raise BadInputError(
        f"source.folder {folder} holds no {known}, but {_held(folder)}; docs/own-data.md shows how it may look."
    )


def _held(folder: Path) -> str:
    """What lies in a folder, so that a name that is nearly right is seen; and what to do with tables of text."""
    names = sorted(one_line(path.name) for path in folder.iterdir())
    if not names:
        return "nothing at all"
    return listed(names) + (f" ({FROM_TABLE})" if any(name.lower().endswith(TABLES) for name in names) else "")


def open_folder(source: Source) -> Opened:
    """The rows, and all else that the folder tells."""
    return layout_of(source).open(source)


def _trained(source: Source) -> Path | None:
    made = source.folder is not None and (source.folder / "manifest.json").is_file()
    return source.folder if made else None


def _labelled(source: Source) -> bool:
    return source.labels is not None or layout_of(source).labelled(source)


def _problem(source: Source) -> str:
    return "source.folder must name a folder when source.kind is 'files'" if source.folder is None else ""


def _content(config: Config) -> dict[str, Any]:
    return layout_of(config.source).content(config.source)


def _bring(run: Run) -> Arrived:
    return bring_opened(run, open_folder(run.config.source))


SOURCE = SourceKind(
    "files",
    "a folder on this disk",
    ("folder", "percent", "images", "mirrors"),
    _content,
    _bring,
    left_out={"folder": CONTENT, "percent": CONTENT, "images": CONTENT, **MIRRORS},
    problem=_problem,
    trained=_trained,
    labelled=_labelled,
    open=open_folder,
)
