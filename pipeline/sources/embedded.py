"""Sets that every installation has: 12,000 models of scikit-learn's digits, and the models of the CIFAR-10 study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.sources.array_files import copy_files
from pipeline.sources.base import Arrived, SourceKind
from pipeline.sources.trained import trained_files
from pipeline.store.files import file_digest

if TYPE_CHECKING:
    from pipeline.config import Config, Source
    from pipeline.stages.base import Run

HOME = Path(__file__).parents[1] / "embedded"
FOLDER = HOME / "digits"


def folder_of(source: Source) -> Path:
    """The folder of `source.set`."""
    return HOME / source.set


def _problem(source: Source) -> str:
    if source.folder is not None or source.images is not None:
        return "source.folder and source.images are not for source.kind 'embedded', which has its own"
    return ""


def _content(config: Config) -> dict[str, Any]:
    return {"embedded": file_digest(folder_of(config.source) / "manifest.json")}


def _bring(run: Run) -> Arrived:
    files = trained_files(folder_of(run.config.source), None)
    return Arrived(copy_files(run, files), files.images)


SOURCE = SourceKind(
    "embedded",
    "a set that comes with the package",
    ("set",),
    _content,
    _bring,
    left_out={"set": "its content enters instead"},
    problem=_problem,
    trained=folder_of,
)
