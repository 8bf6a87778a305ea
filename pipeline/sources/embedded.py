"""The embedded set: 12,000 models of scikit-learn's digits, which every installation has."""

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

FOLDER = Path(__file__).parents[1] / "embedded" / "digits"


def _problem(source: Source) -> str:
    if source.folder is not None or source.images is not None:
        return "source.folder and source.images are not for source.kind 'embedded', which has its own"
    return ""


def _content(config: Config) -> dict[str, Any]:
    return {"embedded": file_digest(FOLDER / "manifest.json")}


def _bring(run: Run) -> Arrived:
    files = trained_files(FOLDER, None)
    return Arrived(copy_files(run, files), files.images)


SOURCE = SourceKind("embedded", "the set that comes with the package", (), _content, _bring, problem=_problem)
